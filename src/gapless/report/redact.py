"""Leaves paths out of a report: each file gets a short name that is the same wherever the file occurs.

The names are those of one run of the program: who guesses a path cannot find out from a report whether it is right.

What is known to be a path is redacted as such: frames, fields named for it, the beginning of an error. Inside texts
only whole paths are replaced, and places as messages write them (`train.py:41`): a file may be named like any word.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapless.explain.finding import Frame

_HASH_CHARS = 8
_KEY = os.urandom(16)
"""Of this run; without one, names could be confirmed by hashing what they may stand for."""
_SEPARATOR = re.compile(r"[/\\]")
# Not the rest of a URL: what PyTorch's messages link to is no secret.
PATH = re.compile(r"(?<![\w:/\\.])(?:[A-Za-z]:|~)?[/\\](?:[^\s/\\:'\",;()`]+[/\\])*[^\s/\\:'\",;()`]+")
"""What looks like the whole path of a file."""
_PATH_KEYS = {"path", "file"}
_WORD_KEYS = {"at", "schema", "code", "name", "kind"}
"""Fields whose texts are words of ours (`at` as text: a moment)."""


class Redactor:
    """Replaces paths in texts, in frames and in JSON.

    >>> redacted = Redactor(["/home/ada/x/train.py"], [("oom", 3, "f")]).text("at /home/ada/x/train.py:3, oom:3: oom")
    >>> re.sub("file-[0-9a-f]{8}", "FILE", redacted)
    'at FILE:3, FILE:3: oom'
    """

    def __init__(self, paths: Iterable[str], frames: Iterable[Frame] = ()) -> None:
        """`paths`: of files that are read; `frames`: all that the report may tell of."""
        frames = set(frames)
        self._given = set(paths)
        self._names = {name: f"file-{_hash(name)}" for name in (*self._given, *(file for file, _, _ in frames))}
        self._told: set[str] = set()
        self._places: dict[str, str] = {}
        for file, line, _ in sorted(frames):  # the name alone may be that of another file, which then keeps it
            name = _SEPARATOR.split(file)[-1]
            if name:
                self._places.setdefault(f"{name}:{line}", f"{self.path(file)}:{line}")
        told = (*self._names, *(function for _, _, function in frames if _tells_path(function)))
        self._whole = {text: self.path(text) for text in told if _SEPARATOR.search(text[:-1] or "")}
        self._pattern = _any_of([*self._whole, *self._places])

    def path(self, path: str) -> str:
        """The name given instead of a path; nothing stays nothing, and a name that was given already stays."""
        if not path or path in self._told:
            return path
        if path not in self._names:
            self._names[path] = f"file-{_hash(path)}"
        self._told.add(self._names[path])
        return self._names[path]

    def frame(self, frame: Frame) -> Frame:
        """A frame without its path; a function keeps its name unless that tells one."""
        file, line, function = frame
        return self.path(file), line, self._function(function)

    def error(self, text: str) -> str:
        """A text about a file, which may begin with its path or quote it."""
        begun = _any_of(self._given, before=r"(?:^|(?<=gapless: ))(['\"]?)", after=r"\1(?=$|[\s:,])")
        quoted = _any_of(self._given, before=r"(?<=['\"])()", after=r"(?=['\"])")
        for pattern in (begun, quoted):
            if pattern is not None:
                text = pattern.sub(lambda match: f"{match[1]}{self.path(match[2])}{match[1]}", text)
        return self.text(text)

    def text(self, text: str) -> str:
        """The text without the paths."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._whole.get(match[2]) or self._places[match[2]], text)
        return PATH.sub(lambda match: self.path(match[0]), text)

    def json(self, value: Any, key: str = "") -> Any:
        """The same of every text inside a JSON value."""
        if isinstance(value, str):
            if key in _PATH_KEYS:
                return self.path(value)
            if key == "function":
                return self._function(value)
            return value if key in _WORD_KEYS else self.text(value)
        if isinstance(value, dict):
            return {name: self.json(item, name) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.json(item, key) for item in value]
        return value

    def _function(self, name: str) -> str:
        return self.path(name) if _tells_path(name) else name


def _tells_path(function: str) -> bool:
    """Whether the name of a function holds a path; C++ has operators of these signs."""
    return bool(_SEPARATOR.search(re.sub(r"\boperator\s*/=?", "", function)))


def _any_of(texts: Iterable[str], before: str = r"(?<![\w.-])()", after: str = r"(?![\w-])") -> re.Pattern[str] | None:
    """Any of the texts as a whole, the longest first: "a.py" must not be cut out of "data.py"."""
    longest = sorted(filter(None, set(texts)), key=len, reverse=True)
    return re.compile(f"{before}({'|'.join(map(re.escape, longest))}){after}") if longest else None


def _hash(path: str) -> str:
    import hashlib  # noqa: PLC0415  (loads OpenSSL, which only redaction needs)

    return hashlib.blake2b(path.encode(errors="surrogatepass"), key=_KEY).hexdigest()[:_HASH_CHARS]
