"""The memory as a replay leaves it before one event: its segments and blocks, as a map and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gapless import _core
from gapless.explain import ExplainOptions
from gapless.explain.moment import choose_moment
from gapless.recording import State
from gapless.recording.recording import ALLOCATED, FREE
from gapless.replaying import replay
from gapless.report.segment_map import DRAWN, PLAIN, MapOptions, segment_map
from gapless.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain.moment import Moment
    from gapless.recording import Recording
    from gapless.replaying import Replay
    from gapless.report.terminal import Terminal

_ROWS = 12


@dataclass(frozen=True)
class ReplayedState:
    """A moment of the recording, and what a replay has there; None where the replay ended before."""

    moment: Moment
    state: State | None
    pools: Sequence[tuple[int, int]] = ()
    """The id of each pool, as PyTorch has it."""


def state_at(recording: Recording, done: Replay, at: str) -> ReplayedState:
    """The state of a replay's result at a moment of the recording.

    Args:
        recording: What was replayed.
        done: The replay.
        at: oom, oom:K, peak, end or event:N.

    Raises:
        InputError: The recording has no such moment.
    """
    moment = choose_moment(recording, ExplainOptions(at=at))
    failures = done.result.failures
    if done.options.stops_at_failure and failures and failures[0].event < moment.event:
        return ReplayedState(moment, None)
    # What a request that fails leaves behind is seen when the replay goes on after it.
    options = replace(done.options, state_before_event=moment.event, stops_at_failure=False)
    found = replay(recording, options).results[done.results.index(done.result)]
    if found.state is None:
        return ReplayedState(moment, None)
    return ReplayedState(
        moment,
        State(moment.event, found.state.segments, found.state.blocks, found.allocation_of_block),
        recording.snapshot.pools,
    )


def to_json(found: ReplayedState) -> dict[str, Any]:
    """As the part "state" of gapless.replay/1."""
    state = found.state
    return {
        "at": found.moment.at,
        "event": found.moment.event,
        "reached": state is not None,
        **(_sums(state) if state else dict.fromkeys(_NAMES)),
        "segments": _segments(state) if state else None,
    }


def to_text(found: ReplayedState, terminal: Terminal) -> None:
    """The sums, and the map."""
    terminal.line()
    if found.state is None:
        ends = f"The replay ends before it comes to event {found.moment.event} ({found.moment.at})"
        terminal.paragraph(f"{ends}; --keep-going goes on after a failure.", 0)
        return
    heading = f"Replayed memory before event {found.moment.event} ({found.moment.at})"
    terminal.line(terminal.paint(heading, "bold"))
    for name, size in _sums(found.state).items():
        terminal.line(f"  {name.removesuffix('_bytes').replace('_', ' '):<20}{format_bytes(size):>12}")
    marks = DRAWN if terminal.draws else PLAIN
    options = MapOptions(width=terminal.width - 2, rows=_ROWS, marks=marks, pools=found.pools)
    for line in segment_map(found.state, options):
        terminal.line("  " + line)


_NAMES = ("reserved_bytes", "allocated_bytes", "active_bytes", "free_bytes", "largest_free_block_bytes")


def _sums(state: State) -> dict[str, int]:
    size, kind = state.blocks["size"].astype("int64"), state.blocks["state"]
    values = (
        state.segments["size"].astype("int64").sum(),
        size[kind == ALLOCATED].sum(),
        size[kind != FREE].sum(),
        size[kind == FREE].sum(),
        size[kind == FREE].max(initial=0),
    )
    return {name: int(value) for name, value in zip(_NAMES, values, strict=True)}


def _segments(state: State) -> list[dict[str, Any]]:
    return [
        {
            "address": int(row["address"]),
            "size_bytes": int(row["size"]),
            "stream": int(row["stream"]),
            "pool": int(row["pool"]),
            "is_small": bool(row["is_small"]),
            "is_expandable": bool(row["is_expandable"]),
            "blocks": [
                {"address": address, "bytes": size, "state": _core.BLOCK_STATES[kind]}
                for address, size, kind in state.blocks_of(number)[["address", "size", "state"]].tolist()
            ],
        }
        for number, row in enumerate(state.segments)
    ]
