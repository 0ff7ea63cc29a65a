"""Which environment variable PyTorch listens to, by release. Compared with the real libraries (builds for CUDA).

Up to 2.9 only PYTORCH_CUDA_ALLOC_CONF counts. From 2.10 on the string has two readers that look for it on their own:
one takes the first that is set of PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF and PYTORCH_ALLOC_CONF, the other
skips the HIP one. A variable that is set but empty counts as set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gapless.conf.options import Half
from gapless.conf.releases import Release

CUDA_VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"
HIP_VARIABLE = "PYTORCH_HIP_ALLOC_CONF"
NEW_VARIABLE = "PYTORCH_ALLOC_CONF"
VARIABLES = (CUDA_VARIABLE, HIP_VARIABLE, NEW_VARIABLE)
_TWO_READERS = Release(2, 10)
_NO_CACHING = ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING")
_NO_CACHING_HIP_SINCE = Release(2, 6)
_NO_CACHING_NEEDS_ONE = Release(2, 7)


@dataclass(frozen=True)
class Environment:
    """What the environment says to a release."""

    release: Release
    texts: tuple[tuple[str, str], ...]
    """The variables that are set, with their texts, in the order in which 2.10 and later look for them."""
    winners: tuple[tuple[Half, str], ...]
    """The variable that each reader takes; empty when none is taken."""
    caching_off: str
    """The variable that switches PyTorch's cache off altogether; empty when none does."""

    @property
    def variable(self) -> str:
        """The variable that holds the options of the card's memory; empty when none is set."""
        return next((name for half, name in self.winners if half is Half.ACCELERATOR), "")

    @property
    def text(self) -> str:
        """The text of `variable`."""
        return dict(self.texts).get(self.variable, "")

    @property
    def ignored(self) -> tuple[str, ...]:
        """Variables that are set and that no reader takes."""
        taken = {name for _, name in self.winners}
        return tuple(name for name, _ in self.texts if name not in taken)


def read_environment(environ: Mapping[str, str], release: Release) -> Environment:
    """Which variables a release takes.

    >>> read_environment({"PYTORCH_ALLOC_CONF": "expandable_segments:True"}, Release(2, 9)).ignored
    ('PYTORCH_ALLOC_CONF',)
    """
    texts = tuple((name, environ[name]) for name in VARIABLES if name in environ)
    orders = {Half.ACCELERATOR: VARIABLES, Half.CUDA: (CUDA_VARIABLE, NEW_VARIABLE)}
    if release < _TWO_READERS:
        orders = dict.fromkeys(orders, (CUDA_VARIABLE,))
    found = ((half, next((name for name in order if name in environ), "")) for half, order in orders.items())
    winners = tuple((half, name) for half, name in found if name)
    return Environment(release, texts, winners, _caching_off(environ, release))


def _caching_off(environ: Mapping[str, str], release: Release) -> str:
    names = _NO_CACHING if release >= _NO_CACHING_HIP_SINCE else _NO_CACHING[:1]
    for name in names:
        if name in environ and (release < _NO_CACHING_NEEDS_ONE or environ[name] == "1"):
            return name
    return ""
