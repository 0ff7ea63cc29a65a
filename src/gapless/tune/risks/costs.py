"""What a change costs: calls of the driver, retries, bytes lost to rounding, and a limit's sharp edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.tune.fix import Risk
from gapless.units import MIB, format_bytes

if TYPE_CHECKING:
    from gapless._core import ReplayResult
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried

_MANY_CALLS, _MORE = 100, 1.5
_LEAST_WASTE, _LEAST_SHARE = 64 * MIB, 0.01


def look(case: Case, one: Tried) -> list[Risk]:
    """Beside the run as it was."""
    before, after = case.before_anew.result, one.replay.result
    return [
        *_calls(case, before, after),
        *_retries(case, before, after),
        *_waste(after, before),
        *_limit(one.candidate),
    ]


def _calls(case: Case, before: ReplayResult, after: ReplayResult) -> list[Risk]:
    was, now = device_calls(before), device_calls(after)
    if now - was < _MANY_CALLS or now < _MORE * was:
        return []
    steps = case.step_count
    by_step = f", {now / steps:,.0f} a step" if steps else ""
    return [Risk("more-device-calls", f"{now:,} calls of the driver instead of {was:,}{by_step}; each takes time")]


def _retries(case: Case, before: ReplayResult, after: ReplayResult) -> list[Risk]:
    # The critical request of a failed run took its retry before as well.
    was, now = len(before.retry_events), len(after.retry_events)
    if now <= was or now == 0:
        return []
    times = "once" if now == 1 else f"{now:,} times"
    message = f"the whole cache is given back {times} to serve a request (before: {was:,}); each waits for the GPU"
    return [Risk("retries", message)]


def _waste(after: ReplayResult, before: ReplayResult) -> list[Risk]:
    lost = after.allocated_bytes_peak - after.requested_bytes_peak
    more = lost - (before.allocated_bytes_peak - before.requested_bytes_peak)
    if more < max(_LEAST_WASTE, _LEAST_SHARE * after.requested_bytes_peak):
        return []
    size, extra = format_bytes(lost), format_bytes(more)
    return [Risk("rounding-waste", f"{size} of the peak is lost inside blocks, {extra} more than before")]


def _limit(candidate: Candidate) -> list[Risk]:
    if candidate.fraction is None or candidate.fraction >= 1:
        return []
    message = (
        f"PyTorch may reserve {100 * candidate.fraction:g} % of the card and no more: what goes beyond is retried"
        " without the cache, and then fails, even while the card has room"
    )
    return [Risk("memory-limit", message)]


def device_calls(result: ReplayResult) -> int:
    """Calls of the driver that gave or took memory."""
    asked = result.device_alloc_calls + result.device_map_calls
    return asked + result.device_free_calls + result.device_unmap_calls
