"""What a shared library (ELF, 64 bits, little-endian) asks of others: read from the file, without loading it.

Layout and numbers follow the System V ABI, and the Linux Standard Base for symbol versions.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gapless.errors import InputError

_DYNAMIC, _DYNSYM, _VERNEED, _VERSYM = 6, 11, 0x6FFFFFFE, 0x6FFFFFFF
_NEEDED, _SONAME = 1, 14
_WEAK = 2
_SMALLEST = 64
"""Bytes of the header that every such file begins with."""
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("shndx", "<u2"), ("value", "<u8"), ("size", "<u8")]
)


@dataclass(frozen=True)
class Requirements:
    """What one shared library needs."""

    soname: str
    libraries: list[str]
    """Names of the libraries it is linked with, in its order."""
    symbols: dict[str, set[str]] = field(default_factory=dict)
    """Undefined names, weak ones left out, by the library that their version tells; "" without one."""


@dataclass(frozen=True)
class _Section:
    kind: int
    link: int
    data: memoryview


def read_requirements(path: str | os.PathLike[str]) -> Requirements:
    """Read one library's requirements.

    Raises:
        InputError: The file is no such library, or is damaged.
    """
    with _sections_of(path) as sections:
        dynamic = next((s for s in sections if s.kind == _DYNAMIC), None)
        soname, libraries = _dynamic(dynamic, sections) if dynamic else ("", [])
        symbols = next((s for s in sections if s.kind == _DYNSYM), None)
        return Requirements(soname, libraries, _undefined(symbols, sections) if symbols else {})


def read_exports(path: str | os.PathLike[str]) -> set[str]:
    """Names of the functions and variables that one library offers.

    Raises:
        InputError: The file is no such library, or is damaged.
    """
    with _sections_of(path) as sections:
        symbols = next((s for s in sections if s.kind == _DYNSYM), None)
        if symbols is None:
            return set()
        texts = sections[symbols.link].data
        rows = np.frombuffer(symbols.data, _SYMBOL)
        defined = np.flatnonzero((rows["shndx"] != 0) & (rows["name"] != 0))
        names = {_text(texts, int(offset)) for offset in rows["name"][defined].tolist()}
        del rows
        return names


@contextlib.contextmanager
def _sections_of(path: str | os.PathLike[str]) -> Iterator[list[_Section]]:
    """The sections of a mapped file; what is read of them must not outlive the block."""
    damaged = InputError(f"{os.fspath(path)} is not a shared library of 64-bit Linux, or it is damaged")
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < _SMALLEST:
            raise damaged
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image, memoryview(image) as view:
            sections: list[_Section] = []
            try:
                sections.extend(_sections(view))
                yield sections
            except (struct.error, ValueError, IndexError) as error:
                raise damaged from error
            finally:
                for section in sections:
                    section.data.release()


def _sections(image: memoryview) -> Iterator[_Section]:
    if bytes(image[:6]) != b"\x7fELF\x02\x01":
        raise ValueError("no ELF")
    (offset,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    for index in range(count):
        _, kind, _, _, start, length, link = struct.unpack_from("<IIQQQQI", image, offset + index * size)
        if kind != 8:  # sections of that kind take no room in the file
            if start + length > len(image):
                raise ValueError("cut off")
            yield _Section(kind, link, image[start : start + length])
        else:
            yield _Section(kind, link, image[:0])


def _text(table: memoryview, offset: int) -> str:
    end = offset
    while table[end]:
        end += 1
    return bytes(table[offset:end]).decode("ascii", "replace")


def _dynamic(section: _Section, sections: list[_Section]) -> tuple[str, list[str]]:
    texts = sections[section.link].data
    soname, libraries = "", []
    for tag, value in struct.iter_unpack("<qQ", section.data[: len(section.data) // 16 * 16]):
        if tag == _NEEDED:
            libraries.append(_text(texts, value))
        elif tag == _SONAME:
            soname = _text(texts, value)
    return soname, libraries


def _undefined(section: _Section, sections: list[_Section]) -> dict[str, set[str]]:
    texts = sections[section.link].data
    rows = np.frombuffer(section.data, _SYMBOL)
    wanted = np.flatnonzero((rows["shndx"] == 0) & (rows["name"] != 0) & (rows["info"] >> 4 != _WEAK))
    versions = _versions(sections)
    index = next((np.frombuffer(s.data, "<u2") for s in sections if s.kind == _VERSYM), None)
    symbols: dict[str, set[str]] = {}
    for row in wanted.tolist():
        library = versions.get(int(index[row]) & 0x7FFF, "") if index is not None else ""
        symbols.setdefault(library, set()).add(_text(texts, int(rows["name"][row])))
    del rows, index
    return symbols


def _versions(sections: list[_Section]) -> dict[int, str]:
    """Which library a symbol's version number belongs to."""
    section = next((s for s in sections if s.kind == _VERNEED), None)
    versions: dict[int, str] = {}
    if section is None:
        return versions
    texts, at = sections[section.link].data, 0
    while True:
        _, count, file, first, following = struct.unpack_from("<HHIII", section.data, at)
        entry = at + first
        for _ in range(count):
            _, _, number, _, step = struct.unpack_from("<IHHII", section.data, entry)
            versions[number] = _text(texts, file)
            entry += step
        if not following:
            return versions
        at += following
