"""A map of segments in characters: where memory is in use, where it is free, and which blocks pin it.

    large  1.07 GiB  ######################==============================P  1.04 GiB free
    request 1.06 GiB ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

All segments are to one scale, those with most free memory first; one longer than a line goes on in the next, and those
that look alike are drawn once, with their number. A character stands for many bytes: it shows a pinning block wherever
one begins in its range, else what most of its bytes are. A segment of another stream or pool than the request's
says so.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gapless.recording.recording import FREE, PENDING
from gapless.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from gapless.recording import State

_LABEL = 22
_SUFFIX = 18
_LEAST_BAR = 16
_FOREIGN = "a stream or pool is named where it is not the request's own, which cannot use what is free there"
_NAMED = "a stream or pool is named where it is not the default one; what is free serves only its own"


@dataclass(frozen=True)
class Marks:
    """The characters of a map."""

    used: str
    free: str
    pending: str
    pin: str
    request: str


PLAIN = Marks("#", ".", "~", "P", "^")
DRAWN = Marks("█", "·", "▒", "▲", "━")


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """How a map is drawn."""

    width: int = 80
    rows: int = 12
    marks: Marks = PLAIN
    request_bytes: int | None = None
    """Drawn below, to the same scale."""
    pins: Collection[int] = ()
    """Addresses of segments whose blocks in use are marked as pins."""
    own: tuple[int, int] | None = None
    """Stream and pool of the request, as in `State.segments`; None: there is none."""
    pools: Sequence[tuple[int, int]] = ()
    """The id of each pool, as PyTorch has it."""
    bytes_per_column: int | None = None
    """The scale; None: the longest segment that is shown fills a line."""


class _Drawing(NamedTuple):
    """One segment as it is drawn."""

    label: str
    bar: str
    free: str
    """How much of it is free, and whose it is where that is another's."""


def segment_map(state: State, options: MapOptions | None = None) -> list[str]:
    """The lines of the map, the legend last; empty when there is no segment."""
    chosen = options or MapOptions()
    if not len(state.segments):
        return []
    free = _free_bytes(state)
    order = np.lexsort((state.segments["address"], -state.segments["size"].astype(np.int64), -free))
    scale = chosen.bytes_per_column or bytes_per_column(state, chosen)
    texts = _texts(state, free, chosen)
    drawn = _drawn_once((_drawing(state, int(at), texts[at], scale, chosen) for at in order), chosen.rows)
    lines = [line for drawing, count in drawn for line in _rows(drawing, count, _columns(state, chosen))]
    rest = order[sum(count for _, count in drawn) :]
    if len(rest):
        lines.append(_summary(state, rest, free))
    if chosen.request_bytes:
        bar = chosen.marks.request * max(round(chosen.request_bytes / scale), 1)
        label = f"request {format_bytes(chosen.request_bytes)}"
        lines.append(f"{label:<{_LABEL - 1}} {bar}"[: chosen.width])
    return [*lines, *_legend(state, chosen)]


def bytes_per_column(state: State, options: MapOptions) -> int:
    """The scale at which the longest of the segments with most free memory, and the request, fill a line."""
    shown = np.argsort(-_free_bytes(state), kind="stable")[: options.rows]
    longest = max(int(state.segments["size"][shown].max(initial=0)), options.request_bytes or 0)
    return max(-(-longest // _columns(state, options)), 1)


def _columns(state: State, options: MapOptions) -> int:
    suffix = _SUFFIX + max(map(len, _owners(state, options).values()))
    return max(options.width - _LABEL - suffix, _LEAST_BAR)


def _owners(state: State, options: MapOptions) -> dict[tuple[int, int], str]:
    """Whose the segments of each stream and pool are, in words; nothing for the request's own."""
    found = set(zip(state.segments["stream"].tolist(), state.segments["pool"].tolist(), strict=True))
    own = options.own or (next(iter(found)) if len(found) == 1 else (0, 0))
    ids = dict(enumerate(options.pools))
    streams = {stream: f", stream {stream}" if stream else ", default stream" for stream, _ in found} | {own[0]: ""}
    pools = {pool: f", pool {ids.get(pool, pool)}" if pool else ", default pool" for _, pool in found} | {own[1]: ""}
    return {(stream, pool): streams[stream] + pools[pool] for stream, pool in found}


def _free_bytes(state: State) -> NDArray[np.int64]:
    is_free = state.blocks["state"] == FREE
    sizes = np.where(is_free, state.blocks["size"].astype(np.int64), 0)
    return np.bincount(state.segment_of_block, weights=sizes, minlength=len(state.segments)).astype(np.int64)


def _texts(state: State, free: NDArray[np.int64], options: MapOptions) -> list[str]:
    """What stands at the right of each segment."""
    owners = _owners(state, options)
    whose = zip(state.segments["stream"].tolist(), state.segments["pool"].tolist(), strict=True)
    sizes = (f"{format_bytes(size)} free" if size else "full" for size in free.tolist())
    return [text + owners[owner] for text, owner in zip(sizes, whose, strict=True)]


def _drawing(state: State, segment: int, text: str, scale: int, options: MapOptions) -> _Drawing:
    row = state.segments[segment]
    kind = ("small" if row["is_small"] else "large") + ("+" if row["is_expandable"] else "")
    return _Drawing(f"{kind:<7}{format_bytes(int(row['size']))}", _bar(state, segment, scale, options), text)


def _drawn_once(drawings: Iterable[_Drawing], most: int) -> list[tuple[_Drawing, int]]:
    """Drawings with how often each follows itself, until there are `most` of them."""
    runs: list[tuple[_Drawing, int]] = []
    for drawing, run in itertools.groupby(drawings):
        if len(runs) == most:
            break
        runs.append((drawing, sum(1 for _ in run)))
    return runs


def _rows(drawing: _Drawing, count: int, columns: int) -> list[str]:
    parts = [drawing.bar[begin : begin + columns] for begin in range(0, len(drawing.bar), columns)]
    labels = [drawing.label + (f" x{count}" if count > 1 else ""), *[""] * (len(parts) - 1)]
    lines = [f"{label:<{_LABEL - 1}} {part}" for label, part in zip(labels, parts, strict=True)]
    return [*lines[:-1], f"{lines[-1]}  {drawing.free}"]


def _bar(state: State, segment: int, scale: int, options: MapOptions) -> str:
    row, marks = state.segments[segment], options.marks
    blocks = state.blocks_of(segment)
    size, columns = int(row["size"]), -(-int(row["size"]) // scale)
    edges = np.minimum(np.arange(columns + 1, dtype=np.int64) * scale, size)
    begins = blocks["address"].astype(np.int64) - int(row["address"])
    ends = begins + blocks["size"].astype(np.int64)
    used = _covered(edges, begins, ends, blocks["state"] != FREE)
    pending = _covered(edges, begins, ends, blocks["state"] == PENDING)
    half = np.diff(edges) / 2
    text = np.where(used >= half, np.where(pending >= half, marks.pending, marks.used), marks.free)
    if int(row["address"]) in options.pins:
        at = begins[blocks["state"] != FREE] // scale
        text[np.minimum(at, columns - 1)] = marks.pin  # however small it is
    return "".join(text)


def _covered(
    edges: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64], counts: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Bytes of the counted blocks within each column."""
    bounds = np.concatenate([begins, ends[-1:]])
    below = np.concatenate([[0], np.cumsum(np.where(counts, ends - begins, 0))])
    covered: NDArray[np.float64] = np.diff(np.interp(edges, bounds, below))
    return covered


def _summary(state: State, rest: NDArray[np.int64], free: NDArray[np.int64]) -> str:
    size, spare = int(state.segments["size"][rest].astype(np.int64).sum()), int(free[rest].sum())
    noun = "segment" if len(rest) == 1 else "segments"
    return f"and {len(rest)} more {noun}: {format_bytes(size)}, " + (
        f"of which {format_bytes(spare)} free" if spare else "all full"
    )


def _legend(state: State, options: MapOptions) -> list[str]:
    marks = options.marks
    parts = [f"{marks.used} in use", f"{marks.free} free", f"{marks.pending} waiting for another stream"]
    if options.pins:
        parts.append(f"{marks.pin} pins its segment")
    foreign = [_FOREIGN if options.own else _NAMED] if any(_owners(state, options).values()) else []
    return ["  ".join(parts), *foreign]
