"""The numbers of a message by the names that reports use."""

from __future__ import annotations

from gapless.explain.finding import Number
from gapless.explain.log.numbers import Numbers


def measurements_of(numbers: Numbers) -> dict[str, Number]:
    """The numbers by name, as printed; those that are known."""
    message = numbers.message
    amounts = {
        "segment_bytes": numbers.request,
        "card_total_bytes": message.capacity,
        "device_free_bytes": numbers.free,
        "allowed_bytes": message.allowed,
        "allocated_bytes": numbers.in_use,
        "private_pool_free_bytes": message.private_pools,
        "unallocated_bytes": numbers.unallocated,
        "reserved_bytes": numbers.reserved,
        "capacity_bytes": numbers.limit,
        "free_in_sum_bytes": numbers.free_in_sum,
        "missing_bytes": numbers.missing,
        "outside_bytes": numbers.outside,
        "own_outside_bytes": numbers.own_outside,
        "other_processes_bytes": numbers.others,
    }
    found: dict[str, Number] = {name: amount.value for name, amount in amounts.items() if amount is not None}
    if numbers.free_in_sum is not None:
        found["free_in_sum_bytes_low"] = numbers.free_in_sum.low
        found["free_in_sum_bytes_high"] = numbers.free_in_sum.high
    if numbers.in_use_share is not None:
        found["in_use_share"] = round(numbers.in_use_share, 4)
    return found
