"""Numbers of one message that cannot all be right, as of a text that was edited, cut and joined, or never PyTorch's.

Only what no rounding explains counts. What Windows does (more allocated than the card has) is no contradiction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.finding import Finding
    from gapless.explain.log.numbers import Numbers
    from gapless.sources.log.amount import Amount


def contradictions(numbers: Numbers) -> list[str]:
    """What cannot be, each in words with its numbers; empty for a message of PyTorch."""
    message = numbers.message
    card, reserved = message.capacity, numbers.reserved
    found = []
    if numbers.request is not None and numbers.request.value == 0:
        found.append("0 bytes were asked for")
    if card is not None and card.value == 0:
        found.append("the card has 0 bytes")
    pairs = (
        ("{} of the card are free, which has {}", numbers.free, card),
        ("this process holds {} of a card of {}", message.this_process, card),
        ("{} are free in private pools, while {} are allocated in all", message.private_pools, message.allocated),
        ("PyTorch reserves {}, while its process holds {}", reserved, message.this_process),
    )
    found += [text.format(_size(more), _size(less)) for text, more, less in pairs if _exceeds(more, less)]
    lends = _exceeds(message.allocated, card)  # then the card's size is no bound
    together = reserved + numbers.free if reserved is not None and numbers.free is not None else None
    if not found and not lends and _exceeds(together, card):
        sizes = (_size(reserved), _size(numbers.free), _size(card))
        found.append("{} reserved and {} free are more than the card's {}".format(*sizes))
    return found


def with_doubt(finding: Finding, numbers: Numbers) -> Finding:
    """The same finding; where numbers contradict each other it says which, and is sure of nothing."""
    found = contradictions(numbers)
    if not found and numbers.contradiction and finding.confidence == "certain":
        return replace(finding, confidence="likely", why=f"{numbers.contradiction}. {finding.why}".strip())
    if not found:
        return finding
    why = f"The numbers of the message contradict each other: {'; '.join(found)}. So nothing that follows is sure."
    return replace(
        finding,
        confidence="unsure",
        why=f"{why} {finding.why}".strip(),
        what_to_do=f"Compare the message with what the program printed first. {finding.what_to_do}".strip(),
    )


def _exceeds(more: Amount | None, less: Amount | None) -> bool:
    return more is not None and less is not None and less.surely_below(more)


def _size(amount: Amount | None) -> str:
    return "an unknown amount" if amount is None else format_bytes(amount.value)
