"""How many bytes a request takes once it is rounded: the arithmetic of roundup_power2_divisions.

    divisions of 4, requests between 1 and 2 GiB:    1.00   1.25   1.50   1.75   2.00 GiB
    a request of 1 GiB + 1 byte takes                       1.25

Pure arithmetic for messages and checks; replays use the same rule in the core.
"""

from __future__ import annotations

from gapless.conf.releases import Release
from gapless.conf.settings import Settings

_QUANTUM = 512
_LAST_UNROUNDED = Release(2, 3)


def rounded_bytes(request_bytes: int, settings: Settings, release: Release) -> int:
    """The size of the block that a request needs.

    >>> rounded_bytes((1 << 30) + 1, Settings(roundup_power2_divisions=(4,) * 16), Release(2, 9)) == 5 << 28
    True
    """
    if request_bytes < _QUANTUM:
        return _QUANTUM
    divisions = settings.divisions(request_bytes)
    if divisions == 1 and request_bytes > _QUANTUM and release <= _LAST_UNROUNDED:
        return request_bytes
    if divisions > 1 and request_bytes > _QUANTUM * divisions:
        return _up_to_division(request_bytes, divisions)
    return -(-request_bytes // _QUANTUM) * _QUANTUM


def _up_to_division(request_bytes: int, divisions: int) -> int:
    power = 1 << (request_bytes.bit_length() - 1)
    if request_bytes == power:
        return power
    step = power // divisions
    return -(-request_bytes // step) * step if step else 2 * power
