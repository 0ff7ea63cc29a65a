"""The virtual GPU: the user's own PyTorch, a stock CUDA build, on a pretend card.

Kernels compute nothing; every allocation, every error and every snapshot is the real code's. The card itself, and the
libraries that stand in for NVIDIA's, are in virtual_gpu/; what is here finds the installed PyTorch, puts the card under
it, and gathers what a run took.
"""

from __future__ import annotations

__all__ = ["PretendCard", "card"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gapless.virtual.in_process import PretendCard, card


def __getattr__(name: str) -> object:
    """What runs inside each process of a run imports this package too, and needs none of it."""
    if name in __all__:
        from gapless.virtual import in_process  # noqa: PLC0415

        return getattr(in_process, name)
    raise AttributeError(f"module 'gapless.virtual' has no attribute {name!r}")
