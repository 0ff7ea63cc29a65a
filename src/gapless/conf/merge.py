"""Settings back into text: a change put into the user's own string, and settings written out.

The user's string stays as it is apart from the change: order, spelling and options that are unknown here. What is
printed to be copied comes from `merge`, so that nothing a user had set is lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from gapless.conf.options import OPTIONS, Kind, Option, find
from gapless.conf.problems import nearest, shown
from gapless.conf.releases import NEWEST
from gapless.conf.settings import INTERVALS, Settings
from gapless.conf.tokens import Item, items_of
from gapless.errors import ConfError
from gapless.units import MIB


def merge(text: str, changes: Mapping[str, str | None]) -> str:
    """A settings string with some options changed.

    An option that is there gets its new value where it stands last (that one counts), and its earlier duplicates go;
    one that is not is added at the end. The value None takes an option out.

    Args:
        text: The user's own string; may be empty.
        changes: Values by option, as PyTorch writes them: ``{"max_split_size_mb": "128"}``.

    Raises:
        ConfError: A change names an option that no release has.

    >>> merge("garbage_collection_threshold:0.8,max_split_size_mb:64", {"max_split_size_mb": "128"})
    'garbage_collection_threshold:0.8,max_split_size_mb:128'
    """
    for name, value in changes.items():
        text = _changed(text, _known(name), name, value)
    return text


def _known(name: str) -> Option:
    option = find(name)
    if option is None:
        like = nearest(name, NEWEST)
        raise ConfError(f"no PyTorch release has an option {shown(name)}", hint=f"did you mean {like}?" if like else "")
    return option


def _changed(text: str, option: Option, name: str, value: str | None) -> str:
    items = items_of(text)
    mine = [item for item in items if find(item.key) is option]
    doomed = mine if value is None else mine[:-1]
    kept = ""
    if value is not None and mine:
        last = mine[-1]
        text = text[: last.start] + f"{last.key}:{value}" + text[last.end :]
    elif value is not None:
        kept = f"{name}:{value}"
    for item in reversed(doomed):
        text = _without(text, item)
    if not kept:
        return text
    head = text.rstrip(" \t\n\v\f\r,")
    return f"{head},{kept}" if head else kept


def _without(text: str, item: Item) -> str:
    """The text without an item and one of the commas beside it."""
    before, after = text[: item.start], text[item.end :]
    if after.lstrip().startswith(","):
        return before + after.lstrip()[1:].lstrip()
    return before.rstrip(" ,") + after


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
