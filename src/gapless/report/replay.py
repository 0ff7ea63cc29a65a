"""A replay as text and as JSON (gapless.replay/1): how exactly the model repeats a recording, and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapless.explain.engine import input_to_json, replay_to_json
from gapless.explain.words import plural
from gapless.report import replayed_state
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless._core import Failure
    from gapless.recording import Recording
    from gapless.replaying import Replay
    from gapless.report.replayed_state import ReplayedState
    from gapless.report.terminal import Terminal

SCHEMA = "gapless.replay/1"
_PEAKS = ("allocated", "active", "reserved", "requested")


def to_json(recording: Recording, replay: Replay, state: ReplayedState | None = None) -> dict[str, Any]:
    """Every fact; `replay` is the worse one where addresses decide."""
    result = replay.result
    least, most = replay.reserved_bytes_peak_range
    return {
        "schema": SCHEMA,
        "input": input_to_json(recording),
        "replay": replay_to_json(recording),
        "peak": {f"{name}_bytes": getattr(result, f"{name}_bytes_peak") for name in _PEAKS},
        "reserved_bytes_peak_range": [least, most],
        "assumed_bytes": _imagined_bytes(recording, replay),
        "fails": {0: "no", len(replay.results): "yes"}.get(
            sum(bool(one.failures) for one in replay.results), "unknown"
        ),
        "ooms": [failure_to_json(failure) for failure in result.failures],
        "served_failures": list(result.served_failures),
        "retries": len(result.retry_events),
        "device_calls": {
            "alloc": result.device_alloc_calls,
            "free": result.device_free_calls,
            "map": result.device_map_calls,
            "unmap": result.device_unmap_calls,
        },
        "reached_event": result.reached_event,
        "undefined": result.undefined,
        "state": replayed_state.to_json(state) if state else None,
    }


def _imagined_bytes(recording: Recording, replay: Replay) -> int:
    """Bytes reserved before the recording began that were allocated anew, in an order that nobody knows."""
    if replay.options.start_as_recorded:
        return 0
    return int(recording.trace.start.segments["size"].sum())


def _imagined(recording: Recording) -> str:
    size = format_bytes(int(recording.trace.start.segments["size"].sum()))
    return f"{size} were reserved before the recording began; what of it is in use is allocated anew here (modelled)."


def failure_to_json(failure: Failure) -> dict[str, Any]:
    """The state at a failing request."""
    names = (
        "event requested_bytes rounded_bytes segment_bytes allocated_bytes active_bytes reserved_bytes"
        " largest_free_block_bytes device_free_bytes was_recorded"
    )
    return {name: getattr(failure, name) for name in names.split()}


def to_text(
    recording: Recording, replay: Replay, under: str, terminal: Terminal, state: ReplayedState | None = None
) -> None:
    """The self-check, then what the program takes `under` given conditions, in words, and the memory at a moment."""
    terminal.line(terminal.paint(_check_line(recording), "bold"))
    check = recording.check
    if recording.trace.contradiction_count:
        terminal.paragraph(doubt(recording), 2)
    first = check.first_difference if check else None
    if first is not None:
        terminal.paragraph(f"first difference at event {first.event}", 2)
        terminal.paragraph(f"recorded: {first.recorded}", 4)
        terminal.paragraph(f"replayed: {first.replayed}", 4)
    result = replay.result
    terminal.line()
    terminal.line(f"Replayed {under}")
    for name in _PEAKS:
        size, event = getattr(result, f"{name}_bytes_peak"), getattr(result, f"{name}_bytes_peak_event")
        terminal.line(f"  {name:<10} at most {format_bytes(size):>12}  after event {event}")
    if _imagined_bytes(recording, replay):
        terminal.paragraph(_imagined(recording), 2)
    least, most = replay.reserved_bytes_peak_range
    if least != most:
        by = "the driver's addresses" if replay.options.limit_bytes_most is None else "what is not known"
        terminal.line(f"  reserved by {by}: {format_bytes(least)} to {format_bytes(most)}")
    calls = f"{result.device_alloc_calls} allocate, {result.device_free_calls} free"
    if result.device_map_calls:
        calls += f", {result.device_map_calls} map, {result.device_unmap_calls} unmap"
    terminal.line(f"  calls of the driver: {calls}; retries after giving the cache back: {len(result.retry_events)}")
    for failure in result.failures:
        _failure(failure, terminal)
    if not result.failures:
        terminal.line("  nothing fails")
    elif not all(one.failures for one in replay.results):
        terminal.paragraph(_may_fail(replay), 2)
    if result.undefined:
        terminal.paragraph("PyTorch itself would go on with memory that is not its own; stopped there.", 2)
    if state is not None:
        replayed_state.to_text(state, terminal)


def _may_fail(replay: Replay) -> str:
    """Of a replay that fails for some of what is not known; the recorded run itself may have failed there."""
    by = "the addresses that the driver gives" if replay.options.limit_bytes_most is None else "where the limit lies"
    whether = "Whether it fails is not known: that hangs"
    if any(failure.was_recorded for failure in replay.failures):
        whether = "The recorded run failed there; whether another one would hangs"
    return f"{whether} on {by}. What is shown is the worse of both."


def doubt(recording: Recording) -> str:
    """Why a self-check of a file that contradicts itself proves nothing."""
    return (
        f"That is no proof: {plural(recording.trace.contradiction_count, 'event')} cannot have happened as recorded"
        " (REC704), so the recording as a whole is not repeated exactly."
    )


def _check_line(recording: Recording) -> str:
    check = recording.check
    if check is None or check.events_checked == 0:
        held = "no events" if recording.event_count == 0 else "no event that allocates or frees"
        return f"Nothing to check: the file holds {held}."
    release = f"PyTorch {recording.matched}" if recording.matched else f"no known release; nearest {recording.release}"
    return f"matches {check.events_matching:,} of {check.events_checked:,} recorded decisions ({release})"


def _failure(failure: Failure, terminal: Terminal) -> None:
    recorded = ", as recorded" if failure.was_recorded else ""
    terminal.paragraph(
        f"out of memory at event {failure.event}{recorded}: {format_bytes(failure.requested_bytes)} asked,"
        f" {format_bytes(failure.reserved_bytes)} reserved, {format_bytes(failure.allocated_bytes)} allocated,"
        f" largest hole {format_bytes(failure.largest_free_block_bytes)},"
        f" {format_bytes(failure.device_free_bytes)} free on the card",
        2,
    )
