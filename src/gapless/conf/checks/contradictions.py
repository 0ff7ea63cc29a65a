"""Options that work against each other, or against the job."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Repair, Subject, finding
from gapless.conf.releases import Release
from gapless.rule import Rule
from gapless.units import MIB

SPLIT_LIMIT_WITH_EXPANDABLE = Rule(
    "CONF611",
    "split-limit-with-expandable",
    "warning",
    "max_split_size_mb together with expandable_segments:True.",
    "Expandable segments are cut wherever needed, so the limit saves nothing. But free blocks of that size or more are"
    " still refused to smaller requests, the large free end of an address range first of all; more memory is mapped"
    " instead. Nothing of an expandable segment is given back on account of the limit. Up to 2.4 PyTorch stops with an"
    " internal assertion when memory runs out.",
    "Of the settings text: both options are in force at the end of it.",
    "Leave max_split_size_mb out.",
    (
        "https://github.com/pytorch/pytorch/issues/123548",
        "https://github.com/pytorch/pytorch/issues/119452",
        "https://github.com/pytorch/pytorch/pull/134338",
        "https://github.com/pytorch/pytorch/pull/193400",
    ),
)
NO_RESCUE = Rule(
    "CONF612",
    "rejection-without-rescue",
    "warning",
    "throw_on_cudamalloc_oom:True.",
    "A request that would take the process over per_process_memory_fraction fails at once. What usually saves it,"
    " giving cached segments back and trying again, is left out; num_ooms does not count it, and no out-of-memory event"
    " is recorded. The fraction is the option's, not one set later in the program.",
    "Of the settings text: the option is on; the memory fraction is taken from the same text.",
    "Use it where a caught failure is better than a retry, as in serving; else leave it out.",
    ("https://github.com/pytorch/pytorch/pull/179473",),
)
NOTHING_ALLOWED = Rule(
    "CONF613",
    "nothing-allowed",
    "error",
    "per_process_memory_fraction:0.",
    "Every request for memory of the card fails.",
    "Of the settings text: the memory fraction that is read is 0.",
    "Give the fraction that the job may use, like 0.9.",
)
ODD_PAGE = Rule(
    "CONF614",
    "odd-page-size",
    "warning",
    "An odd large_segment_size_mb together with expandable_segments:True.",
    "It is then the size of the pages that are mapped, and the CUDA driver maps multiples of its granularity only,"
    " which is 2 MiB on the cards in use. Not tried on a card.",
    "Of the settings text: both options are in force, and the size is no multiple of 2 MiB.",
    "Use an even number.",
    ("https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__VA.html",),
)
RULES = (SPLIT_LIMIT_WITH_EXPANDABLE, NO_RESCUE, NOTHING_ALLOWED, ODD_PAGE)

_SURVIVES_SPLIT_LIMIT_SINCE = Release(2, 5)


def look(subject: Subject) -> Iterator[Finding]:
    """In the order of the rules."""
    settings = subject.in_effect
    if settings.expandable_segments and settings.max_split_size is not None:
        yield _split_limit(subject, settings.max_split_size)
    if settings.throw_on_cudamalloc_oom:
        fraction = settings.per_process_memory_fraction
        share = "the whole card" if fraction == 1 else f"{fraction:g} of the card"
        yield finding(
            NO_RESCUE,
            f"throw_on_cudamalloc_oom:True refuses every request that would go over {share}, without giving cached"
            " memory back first and without an out-of-memory event in a recording",
            "keep it only if the program catches the failure and goes on",
            position=subject.position("throw_on_cudamalloc_oom"),
            measurements={"per_process_memory_fraction": fraction},
        )
    if settings.per_process_memory_fraction == 0:
        message = "per_process_memory_fraction:0 lets PyTorch reserve nothing: every request fails"
        position = subject.position("per_process_memory_fraction")
        yield finding(NOTHING_ALLOWED, message, "give a fraction like 0.9", position=position)
    if settings.expandable_segments and settings.large_segment_size % (2 * MIB):
        size = settings.large_segment_size // MIB
        yield finding(
            ODD_PAGE,
            f"large_segment_size_mb:{size} makes expandable segments map pages of {size} MiB, and the driver maps"
            " multiples of 2 MiB",
            f"use {size + 1}",
            position=subject.position("large_segment_size"),
            measurements={"large_segment_size_bytes": settings.large_segment_size},
        )


def _split_limit(subject: Subject, limit: int) -> Finding:
    release, size = subject.parsed.release, limit // MIB
    message = (
        f"expandable_segments makes max_split_size_mb:{size} pointless and not harmless: free blocks of {size} MiB or"
        f" more are refused to requests under {size} MiB, and more memory is mapped instead"
    )
    severity, position = "warning", subject.position("max_split_size")
    if release < _SURVIVES_SPLIT_LIMIT_SINCE:
        severity = "error"
        message += f"; when memory runs out, PyTorch {release} stops with an internal assertion"
    return finding(
        SPLIT_LIMIT_WITH_EXPANDABLE,
        message,
        "leave max_split_size_mb out",
        severity=severity,
        position=position,
        measurements={"max_split_size_bytes": limit},
        repair=None if position is None else Repair(position, None),
    )
