"""OUT502: a library could not get memory while PyTorch's cache held it; or what else a log says of such a failure."""

from __future__ import annotations

from gapless.explain.finding import Finding
from gapless.explain.log.advice import RECORD
from gapless.explain.log.codes import finding
from gapless.explain.log.full import size
from gapless.explain.others_on_card import LARGE_CACHE_BYTES
from gapless.sources.log.amount import Amount
from gapless.sources.log.failures import LibraryFailure
from gapless.sources.log.memory_summary import MemorySummary
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.scan import LogScan
from gapless.units import format_bytes

_CURE = (
    "Make PyTorch leave room: torch.cuda.empty_cache() before that library starts, or a memory fraction"
    " (torch.cuda.set_per_process_memory_fraction) so that the cache cannot fill the card; start NCCL and cuBLAS early,"
    " with one small call before the model is built. More cache makes it worse."
)


def explain_library(failure: LibraryFailure, scan: LogScan) -> Finding:
    """The finding for a failed library; its code depends on how much PyTorch's cache held."""
    asked = request_bytes(failure, scan)
    found = _cache(failure, scan)
    wanted = f" {format_bytes(asked)}" if asked else " memory"
    rank = failure.origin.rank
    who = failure.library + ("" if rank is None else f" of rank {rank}")
    what = f"{who.replace('the ', 'The ', 1)} could not get{wanted} from the card"
    if not failure.is_memory:
        what = f"{who} failed in a way that a full card causes, among other causes"
    if found is None:
        return finding(
            "REC790",
            f"{what}; this log does not show who held the memory.",
            why="Libraries take memory from the card, not from PyTorch's cache. Whether the cache was large then, this"
            " log does not say.",
            what_to_do="Print torch.cuda.memory_summary() and torch.cuda.mem_get_info() where it fails. With much"
            " reserved and little allocated the cure is torch.cuda.empty_cache() before, or a memory fraction; if not,"
            f" a smaller job. {RECORD}",
            bytes=asked,
            measurements={} if asked is None else {"library_request_bytes": asked},
            confidence="unsure",
        )
    where, cached = found
    measurements = {"cached_bytes": cached.value, **({} if asked is None else {"library_request_bytes": asked})}
    if cached.low >= (asked or 0) and cached.low >= min(asked or LARGE_CACHE_BYTES, LARGE_CACHE_BYTES):
        return finding(
            "OUT502",
            f"{what} while PyTorch's cache held {size(cached)} that nobody used.",
            why=f"The log shows it at {where}. PyTorch gives its cache back for its own requests, not for others'.",
            what_to_do=_CURE,
            bytes=cached.value,
            measurements=measurements,
            confidence="likely" if failure.is_memory else "unsure",
        )
    return finding(
        "REC790",
        f"{what}; PyTorch's cache was not the cause, for only {size(cached)} of it were unused.",
        why=f"The log shows it at {where}. The card was full of memory in use, or others held it.",
        what_to_do=f"Make the job smaller, or look with nvidia-smi who else is on the card. {RECORD}",
        bytes=asked,
        measurements=measurements,
        confidence="unsure",
    )


def request_bytes(failure: LibraryFailure, scan: LogScan) -> int | None:
    """What the library asked for; NCCL says it in a line beside."""
    if failure.request_bytes is not None:
        return failure.request_bytes
    beside = (
        other.request_bytes
        for other in scan.libraries
        if other.library == failure.library and other.origin.rank == failure.origin.rank and other.request_bytes
    )
    return next(beside, None)


def _cache(failure: LibraryFailure, scan: LogScan) -> tuple[str, Amount] | None:
    """Unused bytes in PyTorch's cache nearest to the failure, and where the log shows them."""
    shown: list[tuple[int, str, Amount]] = []
    things: list[MemorySummary | OomMessage] = [*scan.summaries, *scan.messages]
    for thing in things:
        cached = _unused(thing)
        if cached is not None and thing.origin.rank in (None, failure.origin.rank):
            shown.append((abs(thing.line - failure.line), f"line {thing.line}", cached))
    if not shown:
        return None
    _, where, cached = min(shown, key=lambda entry: entry[0])
    return where, cached


def _unused(thing: MemorySummary | OomMessage) -> Amount | None:
    if isinstance(thing, MemorySummary):
        return thing.cached
    if thing.is_quoted or thing.unallocated is None:
        return None
    return thing.unallocated + (thing.private_pools or Amount.exact(0))
