"""PEAK401 spike: memory that lives only for a moment makes the peak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="PEAK401",
    name="spike",
    severity="info",
    finds="A large part of the memory in use lives only for a moment: logits and what the loss makes of them, the"
    " temporaries of an optimizer step, one large operation.",
    why="A card must hold the peak. What lives briefly is often the cheapest to cut: compute the loss in pieces, use a"
    " fused optimizer, or free a tensor a line earlier.",
    measured="Of the allocations in use at the moment, from all places together, those that live for at most one"
    " twentieth of a step (a hundredth of the recording, where steps are not known), or end with the backward pass or"
    " the optimizer step that made them. At a failure, where lives are cut off, the earlier ones of the same stack"
    " decide. Speaks when that is at least 15 % of the memory in use and the peak of the recording would be at least"
    " 5 % lower without it.",
    do="Look at the places: chunked or fused cross entropy for logits; a fused optimizer, or one that works tensor by"
    " tensor (foreach=False); del before the next large operation.",
)


def find(case: Case) -> Iterator[Finding]:
    """A warning when the failed request would fit without the spike; else worth knowing."""
    spike = case.spike
    if spike is None:
        return
    active = max(case.facts.active_bytes, 1)
    peak, without = format_bytes(spike.active_bytes_peak), format_bytes(spike.active_bytes_peak_without)
    yield RULE.finding(
        f"{format_bytes(spike.bytes)} of the memory in use ({percent(spike.bytes / active)}) live only for a moment,"
        f" in {plural(spike.blocks, 'block')}: {spike.where}.",
        severity="warning" if spike.decides else "info",
        why=f"Without them the peak of memory in use would be {without} instead of {peak}.",
        what_to_do=spike.cure,
        bytes=spike.bytes,
        measurements={
            "spike_bytes": spike.bytes,
            "active_bytes": case.facts.active_bytes,
            "spike_blocks": spike.blocks,
            "largest_bytes": spike.largest_bytes,
            "places": spike.places,
            "active_bytes_peak": spike.active_bytes_peak,
            "active_bytes_peak_without": spike.active_bytes_peak_without,
        },
        places=spike.stacks,
    )
