"""Options that do nothing as they stand."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Repair, Subject, finding
from gapless.conf.merge import format_value
from gapless.conf.parse import ParsedItem
from gapless.conf.releases import Release
from gapless.conf.settings import Settings
from gapless.rule import Rule, Severity

NO_EFFECT = Rule(
    "CONF608",
    "no-effect",
    "info",
    "An option that changes nothing: it has its default value, or it needs another option that is not set.",
    "Whoever reads the line later will believe that it does something.",
    "The value that is read is held against the default, and the settings as a whole against what the option needs.",
    "Leave it out, or set what it needs.",
)
GC_WITHOUT_LIMIT = Rule(
    "CONF609",
    "collection-without-limit",
    "warning",
    "garbage_collection_threshold without a memory fraction.",
    "The threshold is a fraction of the process's memory limit. Without a limit nothing is ever collected, in every"
    " release; the documentation does not say so.",
    "Of the settings text: the threshold is set, and no memory fraction below 1 is. A fraction that the program"
    " sets by a call is not in the text.",
    "Set a limit as well: per_process_memory_fraction (2.10 and later) or"
    " torch.cuda.set_per_process_memory_fraction() at start-up. From 2.10 a fraction of 1.0 is no limit.",
)
OTHER_BACKEND = Rule(
    "CONF610",
    "ignored-by-backend",
    "warning",
    "Options for PyTorch's own allocator beside backend:cudaMallocAsync.",
    "The driver's allocator has no use for them. It also keeps no history, so there is no recording to explain a"
    " failure with.",
    "Of the settings text: the backend that it names, and the options beside it that only the other one reads.",
    "Choose one: the backend, or the options.",
)
RULES = (NO_EFFECT, GC_WITHOUT_LIMIT, OTHER_BACKEND)

_FRACTION_OPTION_SINCE = Release(2, 10)
_ONE_IS_OFF_SINCE = Release(2, 4)


def look(subject: Subject) -> Iterator[Finding]:
    """Options in the order of the text, then the backend's."""
    settings = subject.settings
    for item in subject.parsed.items:
        if item.option and item.applied and subject.position(item.option.field) == item.start:
            reason = _reason(subject, item.option.field)
            if reason:
                yield _no_effect(item, f"{item.option.name} does nothing here: {reason}", "warning")
            elif subject.previous is None and _is_default(settings, item.option.field):
                usual = format_value(item.option, getattr(settings, item.option.field))
                yield _no_effect(item, f"{item.option.name}:{usual} is the default", "info")
    yield from _collection(subject)
    yield from _backend(subject)


def _no_effect(item: ParsedItem, message: str, severity: Severity) -> Finding:
    repair = Repair(item.start, None)
    return finding(NO_EFFECT, message, f"leave {item.key} out", severity=severity, position=item.start, repair=repair)


def _is_default(settings: Settings, field: str) -> bool:
    return bool(getattr(settings, field) == getattr(Settings(), field))


def _reason(subject: Subject, field: str) -> str:
    """Why an option does nothing although it differs from its default; empty when it does something."""
    settings, release = subject.settings, subject.parsed.release
    if field == "max_non_split_rounding" and settings.max_split_size is None:
        return "it concerns requests of max_split_size_mb or more, which is unlimited"
    if field == "pinned_num_register_threads" and not settings.pinned_use_cuda_host_register:
        return "it needs pinned_use_cuda_host_register:True"
    ones = set(settings.roundup_power2_divisions) <= {0, 1} and any(settings.roundup_power2_divisions)
    if field == "roundup_power2_divisions" and ones and release >= _ONE_IS_OFF_SINCE:
        return "a division of 1 is the same as off"
    cached, rounded = settings.pinned_max_cached_size, settings.pinned_max_round_threshold
    if field == "pinned_max_round_threshold" and cached is not None and rounded is not None and rounded >= cached:
        return "blocks larger than pinned_max_cached_size_mb are not rounded anyway"
    return ""


def _collection(subject: Subject) -> Iterator[Finding]:
    settings, release = subject.in_effect, subject.parsed.release
    if not settings.garbage_collection_threshold or settings.per_process_memory_fraction < 1:
        return
    threshold = settings.garbage_collection_threshold
    call = "torch.cuda.set_per_process_memory_fraction(0.95)"
    if release >= _FRACTION_OPTION_SINCE:
        hint = f"add per_process_memory_fraction:0.95, or call {call} at start-up"
    else:
        hint = f"call {call} at start-up; PyTorch {release} has no option for it"
    yield finding(
        GC_WITHOUT_LIMIT,
        f"garbage_collection_threshold:{threshold!r} does nothing unless the program sets a memory fraction: it is a"
        " fraction of the memory limit, and this text sets none",
        hint,
        position=subject.position("garbage_collection_threshold"),
        measurements={"garbage_collection_threshold": threshold},
    )


def _backend(subject: Subject) -> Iterator[Finding]:
    if subject.settings.backend == "native":
        return
    items = [item for item in subject.parsed.items if item.applied and item.option]
    ignored = [item.key for item in items if item.option and item.option.for_native]
    history = "it keeps no history, so no recording can explain a failure"
    position = subject.position("backend")
    if ignored:
        message = f"backend:cudaMallocAsync ignores {', '.join(ignored)}, and {history}"
        yield finding(OTHER_BACKEND, message, "choose the backend or the options", position=position)
    else:
        message = f"backend:cudaMallocAsync hands every request to the driver; {history}"
        yield finding(OTHER_BACKEND, message, "", severity="info", position=position)
