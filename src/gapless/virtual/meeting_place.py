"""The store in which the ranks of a job meet, for one that is alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import timedelta

_UNIQUE_ID_BYTES = 128
"""What NCCL calls an identity, and one rank tells the others."""


def meeting_place(store: type[Any], world: int) -> Any:
    """A store, of PyTorch's class `Store`, for a job of `world` ranks."""
    return type("MeetingPlace", (_Answers, store), {})(world)


class _Answers:
    """Keeps what this rank says; what others would have said is there at once, as zeros."""

    def __init__(self, world: int) -> None:
        super().__init__()
        self._world = world
        self._values: dict[str, bytes] = {}

    def set(self, key: str, value: str | bytes) -> None:
        """Keep it."""
        self._values[key] = value.encode() if isinstance(value, str) else bytes(value)

    def get(self, key: str) -> bytes:
        """What was kept, or zeros."""
        return self._values.get(key, bytes(_UNIQUE_ID_BYTES))

    def add(self, key: str, amount: int) -> int:
        """A count to which every rank has added as much."""
        total = int(self._values.get(key, b"0")) + amount * self._world
        self._values[key] = str(total).encode()
        return total

    def compare_set(self, key: str, expected: str, wanted: str) -> bytes:
        """Replace a value that is as expected."""
        if self._values.get(key, b"").decode(errors="replace") == expected:
            self.set(key, wanted)
        return self.get(key)

    def check(self, keys: list[str]) -> bool:
        """Whether this rank has said all of these."""
        return all(key in self._values for key in keys)

    def delete_key(self, key: str) -> bool:
        """Forget it; whether it was there."""
        return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many are kept."""
        return len(self._values)

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Nobody is waited for."""

    def set_timeout(self, timeout: timedelta) -> None:
        """It never takes time."""
