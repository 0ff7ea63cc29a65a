"""Leaves source paths out of a report: each file gets a short name that is the same wherever the file occurs.

The names are replaced in the finished report, in every text of it, so that no part can forget to do it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_HASH_CHARS = 8
_SEPARATORS = re.compile(r"[/\\]")


class Redactor:
    """Replaces given paths, and their file names, in texts and in JSON.

    >>> Redactor(["/home/ada/secret/train.py"]).text("at /home/ada/secret/train.py:3, train.py:9")
    'at file-4a587bd3:3, file-4a587bd3:9'
    """

    def __init__(self, paths: Iterable[str]) -> None:
        known = sorted(set(paths), key=len, reverse=True)
        self._names = {path: f"file-{_hash(path)}" for path in known if len(path) > 1}
        for path in known:  # the name alone may be that of another file, which then keeps it
            name = _SEPARATORS.split(path)[-1]
            if len(name) > 1:
                self._names.setdefault(name, f"file-{_hash(path)}")
        forms = sorted(self._names, key=len, reverse=True)
        # A short name is replaced only as a whole word: "a.py" must not be cut out of "data.py".
        self._pattern = (
            re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, forms)) + r")(?![\w-])") if forms else None
        )

    def text(self, text: str) -> str:
        """The text without the paths."""
        return self._pattern.sub(lambda match: self._names[match[0]], text) if self._pattern else text

    def json(self, value: Any) -> Any:
        """The same of every text inside a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.json(item) for item in value]
        return value


def _hash(path: str) -> str:
    import hashlib  # noqa: PLC0415  (loads OpenSSL, which only redaction needs)

    return hashlib.sha256(path.encode(errors="surrogatepass")).hexdigest()[:_HASH_CHARS]
