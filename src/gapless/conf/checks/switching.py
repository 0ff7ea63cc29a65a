"""What changing settings while the job runs does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gapless.conf.findings import Finding, Subject, finding
from gapless.conf.merge import format_value
from gapless.conf.options import OPTIONS, Option
from gapless.conf.settings import Settings
from gapless.rule import Rule

DROPS = Rule(
    "CONF641",
    "switch-drops-settings",
    "warning",
    "A call that changes one option at run time and thereby sets others back.",
    "Each call first sets max_split_size_mb, roundup_power2_divisions and garbage_collection_threshold back to their"
    " defaults (from 2.11 max_non_split_rounding_mb as well), whatever it mentions. Libraries that switch"
    " expandable_segments off and on around a pool, as vLLM's sleep mode does, lose them for good.",
    "Of a call at run time (`gapless conf TEXT --after BEFORE`): the settings before it are compared with those"
    " after it. Of a text in force from the start: it sets such options beside expandable_segments:True, which a"
    " library may switch.",
    "Repeat in the call what must stay.",
    ("https://github.com/vllm-project/vllm/pull/54351", "https://github.com/vllm-project/vllm/pull/40812"),
)
FREES_LIVE = Rule(
    "CONF642",
    "switch-frees-live-memory",
    "error",
    "max_split_size_mb lowered, or expandable_segments switched, at run time while max_split_size_mb is in force.",
    "PyTorch then can meet large segments that are cut although it believes that they cannot be. When memory runs out"
    " it gives the first part back to the driver, and with it the whole segment, in which other tensors live. Seen in"
    " every release from 2.1 to 2.14.",
    "Of a call at run time (`gapless conf TEXT --after BEFORE`): the settings before it are compared with those"
    " after it. What the call then does to memory is not looked at; `gapless tune` says of a recording whether"
    " tensors live in such a segment.",
    "Do not change these at run time: set them before the start, or leave max_split_size_mb out.",
)
TOO_LATE = Rule(
    "CONF643",
    "read-at-start-only",
    "warning",
    "per_process_memory_fraction in a call at run time.",
    "It is read once, when the card is first used; a later call changes nothing.",
    "Of a call at run time (`gapless conf TEXT --after BEFORE`): the text names the option.",
    "Call torch.cuda.set_per_process_memory_fraction() instead.",
)
RULES = (DROPS, FREES_LIVE, TOO_LATE)


def look(subject: Subject) -> Iterator[Finding]:
    """Of a change at run time when there was one; else of the changes that libraries are known to make."""
    if subject.previous is None:
        yield from _to_be_dropped(subject)
        return
    yield from _dropped(subject, subject.previous)
    if _can_free_live(subject.previous, subject.settings):
        yield finding(
            FREES_LIVE,
            "after this change PyTorch can give back a segment in which tensors still live, when memory runs out",
            "set these options before the start only, or leave max_split_size_mb out",
            position=subject.position("max_split_size"),
        )
    if subject.mentions("per_process_memory_fraction"):
        message = "per_process_memory_fraction is read when the card is first used; this call does not change the limit"
        hint = "call torch.cuda.set_per_process_memory_fraction()"
        yield finding(TOO_LATE, message, hint, position=subject.position("per_process_memory_fraction"))


def _resettable(subject: Subject) -> list[Option]:
    return [option for option in OPTIONS if option.reset_since and option.reset_since <= subject.parsed.release]


def _to_be_dropped(subject: Subject) -> Iterator[Finding]:
    if not subject.in_effect.expandable_segments:
        return
    names = [option.name for option in _resettable(subject) if subject.mentions(option.field)]
    if names:
        severity = "warning" if "sleep-mode" in subject.uses else "info"
        dropped = ", ".join(names)
        message = f"a library that switches expandable_segments at run time, as vLLM's sleep mode does, drops {dropped}"
        yield finding(DROPS, message, "do not combine them in such a process", severity=severity)


def _dropped(subject: Subject, previous: Settings) -> Iterator[Finding]:
    for option in _resettable(subject):
        before, after = getattr(previous, option.field), getattr(subject.settings, option.field)
        if before != after and not subject.mentions(option.field):
            was, now = format_value(option, before), format_value(option, after)
            message = f"this call sets {option.name} back from {was} to {now}, although it does not mention it"
            kept = replace(subject.settings, **{option.field: before})
            hint = f"add {option.name}:{was} to the call"
            if _can_free_live(previous, kept):
                hint = f"change nothing at run time: with {option.name}:{was} in the call, it could free live memory"
                hint += f" ({FREES_LIVE.code})"
            yield finding(DROPS, message, hint)


def _can_free_live(before: Settings, after: Settings) -> bool:
    if after.max_split_size is None:
        return False
    lowered = before.max_split_size is None or after.max_split_size < before.max_split_size
    return lowered or before.expandable_segments != after.expandable_segments
