"""Settings back into text: a change put into the user's own string, and settings written out.

The user's string stays as it is apart from the change: order, spelling and options that are unknown here. What is
printed to be copied comes from `merge`, so that nothing a user had set is lost.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from gapless.conf.options import OPTIONS, Kind, Option, find
from gapless.conf.problems import nearest, shown
from gapless.conf.releases import NEWEST
from gapless.conf.settings import INTERVALS, Settings
from gapless.conf.tokens import Item, items_of
from gapless.conf.variables import CUDA_VARIABLE
from gapless.errors import ConfError
from gapless.units import MIB

_BLANKS = " \t\n\v\f\r"


def merge(text: str, changes: Mapping[str, str | None]) -> str:
    """A settings string with some options changed.

    An option that is there gets its new value where it stands last (that one counts), and its earlier duplicates go;
    one that is not is added at the end. The value None takes an option out. A comma at the end goes.

    Args:
        text: The user's own string; may be empty.
        changes: Values by option, as PyTorch writes them: ``{"max_split_size_mb": "128"}``.

    Raises:
        ConfError: A change names an option that no release has, or the text ends inside a list.

    >>> merge("garbage_collection_threshold:0.8,max_split_size_mb:64", {"max_split_size_mb": "128"})
    'garbage_collection_threshold:0.8,max_split_size_mb:128'
    """
    for name, value in changes.items():
        text = _changed(text, _known(name), name, value)
    return text.rstrip(_BLANKS + ",") if changes else text


def _known(name: str) -> Option:
    option = find(name)
    if option is None:
        like = nearest(name, NEWEST)
        raise ConfError(f"no PyTorch release has an option {shown(name)}", hint=f"did you mean {like}?" if like else "")
    return option


def _changed(text: str, option: Option, name: str, value: str | None) -> str:
    mine = [item for item in items_of(text) if find(item.key) is option]
    if value is None:
        return _without(text, mine)
    if mine:
        last = mine[-1]
        return _without(text[: last.start] + f"{last.key}:{value}" + text[last.end :], mine[:-1])
    if text.rfind("[") > text.rfind("]"):
        raise ConfError("a list in the settings has no closing bracket, so nothing can be added", hint="add ]")
    head = text.rstrip(_BLANKS + ",")
    return f"{head},{name}:{value}" if head else f"{name}:{value}"


def _without(text: str, doomed: list[Item]) -> str:
    """The text without some of its items, each with the comma and the blanks behind it."""
    pieces, at = [], 0
    for item in doomed:
        pieces.append(text[at : item.start])
        comma = text.find(",", item.end)
        at = len(text) if comma < 0 else comma + 1
        while text[at : at + 1] and text[at] in _BLANKS:
            at += 1
    kept = "".join(pieces) + text[at:]
    return kept if not doomed or at < len(text) else kept.rstrip(_BLANKS + ",")


def line_to_copy(text: str) -> str:
    """The assignment to put before a command or behind "export", quoted for the shell where that is needed.

    >>> line_to_copy("roundup_power2_divisions:[256:1,>:4]")
    "PYTORCH_CUDA_ALLOC_CONF='roundup_power2_divisions:[256:1,>:4]'"
    """
    return f"{CUDA_VARIABLE}={shlex.quote(text)}"


def format_settings(settings: Settings) -> str:
    """The shortest usual text that gives these settings to a fresh PyTorch; empty when all are defaults.

    Raises:
        ConfError: A size is not a whole number of MiB, so no text can say it.

    >>> format_settings(Settings(expandable_segments=True, max_split_size=128 * MIB))
    'expandable_segments:True,max_split_size_mb:128'
    """
    usual = Settings()
    parts = []
    for option in OPTIONS:
        value = getattr(settings, option.field)
        default = getattr(usual, option.field)
        if option.field == "max_non_split_rounding" and settings.large_segment_size != usual.large_segment_size:
            default = settings.large_segment_size
        if value != default:
            parts.append(f"{option.name}:{format_value(option, value)}")
    return ",".join(parts)


def format_value(option: Option, value: object) -> str:
    """One setting as PyTorch writes it.

    >>> format_value(find("roundup_power2_divisions"), (2,) * 9 + (4,) + (0,) * 6)
    '[256:2,512:4]'
    """
    if option.kind is Kind.DIVISIONS and isinstance(value, tuple):
        return _divisions(value)
    if option.kind is Kind.MIB:
        if value is None:
            return "unlimited"
        if not isinstance(value, int) or value % MIB:
            raise ConfError(
                f"{option.name} of {value} bytes is not a whole number of MiB", hint=f"use a multiple of {MIB}"
            )
        return str(value // MIB)
    return repr(value) if isinstance(value, float) else str(value)


def _divisions(divisions: tuple[int, ...]) -> str:
    """A round-up list that every release reads alike: without ">:", whose meaning changed in 2.10."""
    if not any(divisions):
        return "off"
    if len(set(divisions)) == 1:
        return str(divisions[0])
    run = next(k for k in range(INTERVALS) if divisions[k] != divisions[0])
    # The first pair fills everything below it; every later one sets its own entry only, and the rest stays off.
    pairs = [(run - 1, divisions[0])] + [(k, divisions[k]) for k in range(run, INTERVALS) if divisions[k]]
    return "[" + ",".join(f"{1 << k}:{value}" for k, value in pairs) + "]"
