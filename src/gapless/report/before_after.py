"""Two maps of the same moment, to one scale: as it was recorded, and as a replay under a fix leaves it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.recording import State
from gapless.replaying import replay
from gapless.report.segment_map import DRAWN, PLAIN, MapOptions, bytes_per_column, segment_map

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.report.terminal import Terminal
    from gapless.tune import TuneResult
    from gapless.tune.tried import Tried

_INDENT = 2


def maps_before_and_after(
    explanation: Explanation, result: TuneResult, tried: Tried, terminal: Terminal, rows: int = 10
) -> tuple[list[str], list[str]]:
    """The map at the moment that is explained, and the map of the same moment under a fix; empty where it is not
    reached.
    """
    moment, refusal = explanation.case.moment, explanation.case.refusal
    options = MapOptions(
        width=terminal.width - _INDENT,
        rows=rows,
        marks=DRAWN if terminal.draws else PLAIN,
        request_bytes=explanation.facts.requested_bytes,
        pins={pin.segment for pin in explanation.pins},
        own=(refusal.request.stream, refusal.request.pool) if refusal else None,
        pools=explanation.recording.snapshot.pools,
    )
    options = replace(options, bytes_per_column=bytes_per_column(explanation.case.state, options))
    after = state_under(result, tried, moment.event)
    fixed = segment_map(after, replace(options, pins=())) if after is not None else []
    return segment_map(explanation.case.state, options), fixed


def state_under(result: TuneResult, tried: Tried, event: int) -> State | None:
    """The state before an event under a fix; None where the replay does not come so far."""
    options = replace(tried.candidate.options(result.case), state_before_event=event)
    done = replay(result.case.recording, options).result
    if done.state is None:
        return None
    return State(event, done.state.segments, done.state.blocks, done.allocation_of_block)
