"""Makes pickles that no honest program writes: opcode by opcode."""

from __future__ import annotations

import pickle
from collections.abc import Iterator


def text(word: str) -> bytes:
    return pickle.SHORT_BINUNICODE + bytes([len(word)]) + word.encode()


def settings(value: bytes) -> bytes:
    """A recording whose settings hold one value, given as opcodes."""
    inside = b"}" + text("a") + value + b"s"
    return b"\x80\x04}(" + text("segments") + b"]" + text("allocator_settings") + inside + b"u."


def event_with(value: bytes) -> bytes:
    """A recording whose second event has ``value``, given as opcodes, as its size."""
    fields = [text("action"), text("alloc"), text("addr"), b"K\x00", text("stream"), b"K\x00", text("size")]
    whole = b"}(" + b"".join(fields) + b"K\x05u"
    cut = b"}(" + b"".join(fields) + value + b"u"
    return b"\x80\x04}(" + text("segments") + b"]" + text("device_traces") + b"](](" + whole + cut + b"eeu."


def laughs(depth: int, width: int) -> bytes:
    """A list of ``width`` times the same list of ``width`` times the same list, and so on."""
    opcodes = b"]\x94"
    for level in range(depth):
        opcodes += b"0](" + b"".join(b"h" + bytes([level]) for _ in range(width)) + b"e\x94"
    return opcodes


MULTIPLIER, SEED, FINAL = 0x9E3779B97F4A7C15, 0x2545F4914F6CDD1D, 0x94D049BB133111EB
MASK = (1 << 64) - 1


def _unmix(mixed: int, word: int) -> int:
    """The hash before `mix_hash(hash, word)` of core/snapshot/id_table.h."""
    shifted = mixed ^ (mixed >> 29) ^ (mixed >> 58)
    return (shifted * pow(MULTIPLIER, -1, 1 << 64) & MASK) ^ word


def _mix(mixed: int, word: int) -> int:
    mixed = (mixed ^ word) * MULTIPLIER & MASK
    return mixed ^ (mixed >> 29)


def colliding_texts(count: int) -> Iterator[bytes]:
    """ASCII texts of 8 bytes whose hashes agree in the half that the tables look at."""
    start, low = _mix(SEED, 8), 0
    while count > 0:
        word = _unmix(_unmix(_unmix(0xABCDEF01 << 32 | low, FINAL), 0), start)
        low += 1
        if word & 0x8080808080808080 == 0:
            count -= 1
            yield word.to_bytes(8, "little")


def calls(module: str, name: str, argument: str) -> dict[str, bytes]:
    """Pickles that call ``module.name(argument)`` when Python loads them, each in another way."""
    found = f"{module}\n{name}\n".encode()
    quoted = f"S{argument!r}\n".encode()
    return {
        "GLOBAL": b"\x80\x02c" + found + b"(" + quoted + b"tR.",
        "INST": b"(" + quoted + b"i" + found + b".",
        "STACK_GLOBAL": b"\x80\x04" + text(module) + text(name) + b"\x93(" + quoted + b"tR.",
        "REDUCE": b"\x80\x02K\x00)R.",
    }
