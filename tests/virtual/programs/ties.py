"""Two free blocks of 40 MiB, one the rest of a segment of 60: which is cut decides whether 60 MiB are free later."""

from __future__ import annotations

import torch


def take(mib: int) -> torch.Tensor:
    """A tensor of so many MiB."""
    return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")


whole = take(60)
del whole
head = take(20)
rest, other = take(40), take(40)
del rest, other
cut = take(12)
del head
large = take(60)
