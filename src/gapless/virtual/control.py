"""The pretend card as this process has it: its counters, and what tests may set."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

_NAMES = ("used", "used_peak", "capacity", "mallocs", "frees", "creates", "releases", "maps", "unmaps", "refusals")
_U64 = ctypes.c_uint64
LIBRARIES = ("nccl", "cudnn", "cublas")
"""Those that take memory beside PyTorch, in the card's own order."""


class _Counters(ctypes.Structure):
    _fields_ = [(name, _U64) for name in _NAMES]


@dataclass(frozen=True)
class Counters:
    """What one card gave and refused; bytes for the first three, else calls of the driver."""

    used: int
    """Bytes given out, the context not counted."""
    used_peak: int
    capacity: int
    """As the driver reports it."""
    mallocs: int
    frees: int
    creates: int
    """Pieces of physical memory made: what expandable segments consist of."""
    releases: int
    maps: int
    unmaps: int
    refusals: int


class Control:
    """Functions of the loaded card."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.gapless_card_launches.restype = _U64
        library.gapless_card_calls.restype = ctypes.c_size_t
        library.gapless_card_calls.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.gapless_card_set_capacity.argtypes = [ctypes.c_int, _U64]
        library.gapless_card_set_completion.argtypes = [ctypes.c_int, _U64]
        library.gapless_card_finish_stream.argtypes = [ctypes.c_void_p]
        library.gapless_card_memory_begin.restype = library.gapless_card_memory_size.restype = _U64
        self.memory_begin = int(library.gapless_card_memory_begin())
        """Where the addresses of device memory begin, which this process can read and write."""
        self.memory_bytes = int(library.gapless_card_memory_size())
        self.set_known = library.gapless_card_set_known
        self.set_known.argtypes = [_U64, _U64, ctypes.c_int]
        self.set_known.restype = None
        self.distrust_reads = library.gapless_card_distrust_reads
        self.distrust_reads.restype = None
        self.is_known = library.gapless_card_is_known
        self.is_known.argtypes = [_U64, _U64]

    def counters(self, device: int = 0) -> Counters:
        """Counters of one card."""
        out = _Counters()
        self._library.gapless_card_counters(device, ctypes.byref(out))
        return Counters(*(int(getattr(out, name)) for name in _NAMES))

    def charges(self, device: int = 0) -> dict[str, tuple[int, int]]:
        """Of each library: how often it took its share of one card, and the most bytes that it held."""
        charge = (_U64 * 3)()
        found = {}
        for number, name in enumerate(LIBRARIES):
            self._library.gapless_card_charge(device, number, ctypes.byref(charge))
            found[name] = (int(charge[0]), int(charge[1]))
        return found

    def launches(self) -> int:
        """Kernels, copies and fills so far."""
        return int(self._library.gapless_card_launches())

    def calls(self) -> tuple[dict[str, list[str]], dict[str, int]]:
        """Functions that got a default answer, by library; launches of kernels, by the library they are part of."""
        size = self._library.gapless_card_calls(None, 0) + 4096
        buffer = ctypes.create_string_buffer(size)
        self._library.gapless_card_calls(buffer, size)
        defaults: dict[str, list[str]] = {}
        launches: dict[str, int] = {}
        for line in buffer.value.decode(errors="replace").splitlines():
            kind, library, value = line[:7], *line[8:].rsplit(" ", 1)
            if kind == "default":
                defaults.setdefault(library, []).append(value)
            else:
                launches[library] = launches.get(library, 0) + int(value)
        return defaults, launches

    def set_capacity(self, size_bytes: int, device: int = 0) -> None:
        """Make the card larger or smaller while it runs."""
        self._library.gapless_card_set_capacity(device, size_bytes)

    def refuse_allocation(self, nth: int = 1) -> None:
        """Let the nth next allocation from the driver fail."""
        self._library.gapless_card_refuse_allocation(nth)

    def hold_events(self) -> None:
        """From now on an event is done only when somebody waits for it."""
        self._library.gapless_card_set_completion(1, 0)

    def lag_events(self, launches: int) -> None:
        """From now on an event is done so many launches later."""
        self._library.gapless_card_set_completion(2, launches)

    def finish(self) -> None:
        """All work is done."""
        self._library.gapless_card_finish_all()


@cache
def load(libraries: tuple[str, ...]) -> Control:
    """Load the stand-ins into this process, once; must come before PyTorch is imported.

    The loader takes a library that is already loaded under the name that is asked for, whatever path PyTorch's
    libraries carry. So it is enough to be first.
    """
    loaded = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in libraries]
    return Control(loaded[0])
