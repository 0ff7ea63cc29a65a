"""What is wrong with a settings string, as data: `Problem`, and the messages for each kind of it.

PyTorch stops at the first problem. Its own words are kept beside ours, so that a message in a log can be recognised.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from gapless.conf.options import NAMES, Kind, Option, find
from gapless.conf.releases import Release
from gapless.conf.tokens import SIGNS

_SHOWN_CHARS = 60
ELSEWHERE = {
    "roundup_bypass_threshold_mb": "it was for releases before 2.0; a list in roundup_power2_divisions names sizes now",
    "expandable_segments_handle_type": "it cannot be set in the text, although errors name it; leave it out",
    "expandable_segments_reserve": "it comes in a release after 2.14; leave it out",
    "expandable_segments_reserve_by_class": "it comes in a release after 2.14; leave it out",
    "segment_size_mb": "it is for Ascend cards (PYTORCH_NPU_ALLOC_CONF); here the option is large_segment_size_mb",
}
"""Names that people meet and that no release reads here, with what to do."""
_PLAIN = re.compile(r"[\w.+-]{1,60}", re.ASCII)
GAP = "Index out of bounds in ConfigTokenizer"
UNCLOSED = "Expected closing bracket ']' in ConfigTokenizer but reached end of config"


@dataclass(frozen=True)
class Problem:
    """Why PyTorch stops reading a settings string."""

    code: str
    """unknown-key, missing-colon, missing-value, wrong-separator, not-a-bool, not-a-number, out-of-range,
    not-a-power-of-two, unclosed-list, unknown-backend or backend-changed."""
    key: str
    """The option's name as written; empty when the problem is between options."""
    position: int
    """Character of the settings string."""
    message: str
    hint: str
    torch_error: str
    """PyTorch's own words; empty where it crashes instead."""


class StopError(Exception):
    """PyTorch reads no further."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def shown(text: str) -> str:
    """A piece of a stranger's text, quoted and cut, for a message.

    >>> shown("a" * 100)[-6:]
    "aa...'"
    """
    return repr(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "...")


def bare(text: str) -> str:
    """A value for a message: as it is where it is plain, else quoted.

    >>> bare("10"), bare("1 0")
    ('10', "'1 0'")
    """
    return text if _PLAIN.fullmatch(text) else shown(text)


def nearest(key: str, release: Release) -> str:
    """The known option whose name is most like a key, among those of a release; empty when none is like it."""
    names = _names_in(release)
    bare = key[:_SHOWN_CHARS].lower().replace("-", "_").replace("pytorch_", "")
    with_unit = difflib.get_close_matches(bare, names, n=1, cutoff=0.6)
    return with_unit[0] if with_unit else ""


def _names_in(release: Release) -> list[str]:
    """The options that a release knows."""
    return [name for name in NAMES if (option := find(name)) and option.since <= release]


def unknown_key(key: str, position: int, release: Release, torch_error: str) -> Problem:
    """A key that the release does not read."""
    option = find(key)
    known = nearest(key, release)
    if key in ELSEWHERE:
        message, hint = f"PyTorch {release} does not know {key}", ELSEWHERE[key]
    elif key in SIGNS:
        message, hint = f"an option's name is missing before {shown(key)}", "remove the sign that stands too many"
    elif option is not None:
        message = f"PyTorch {release} does not know {key}; it came with {option.since}"
        hint = f"remove {key}, or use PyTorch {option.since} or later"
    elif "=" in key:
        message = f"PyTorch {release} does not know {shown(key)}"
        hint = "write a colon between an option and its value, like " + key[:_SHOWN_CHARS].replace("=", ":", 1)
    elif key in ("True", "False") or key[:1].isdigit():
        message = f"the value {shown(key)} stands where an option's name is expected"
        hint = "separate options with commas, and write a colon between an option and its value"
    else:
        message = f"PyTorch {release} does not know {shown(key)}"
        hint = f"did you mean {known}?" if known else f"known: {', '.join(_names_in(release))}"
    return Problem("unknown-key", key, position, message, hint, torch_error)


def missing_colon(option: Option, key: str, position: int, asserts: bool) -> Problem:
    """An option without a colon after it."""
    words = GAP if asserts else "Error parsing CachingAllocator settings, expected :"
    message = f"no value follows {key}"
    return Problem("missing-colon", key, position, message, _example(option), words)


def missing_value(option: Option, key: str, position: int, asserts: bool) -> Problem:
    """An option whose colon is the end of the text."""
    old = option.value_error.format(name=option.name) or f"Error, expecting {option.name} value"
    return Problem(
        "missing-value", key, position, f"no value follows {key}:", _example(option), GAP if asserts else old
    )


def wrong_separator(found: str, position: int, expected: str) -> Problem:
    """Something stands where a comma or a colon must."""
    return Problem(
        "wrong-separator",
        "",
        position,
        f"{shown(found)} stands where {expected!r} is expected",
        "separate options with commas, and write a colon between an option and its value",
        f"Error parsing CachingAllocator settings, expected {expected}",
    )


def not_a_bool(option: Option, key: str, token: str, place: tuple[int, int], asserts: bool) -> Problem:
    """A switch that is neither True nor False. `place`: character of the text, index of the token."""
    position, index = place
    words = f"Expected 'True' or 'False' at index {index} in ConfigTokenizer but got '{token}'"
    old = f"Expected a single True/False argument for {option.name}"
    message = f"{key} is {bare(token)}; it must be True or False, with a capital letter"
    value = "False" if token.lower() in ("false", "0", "no", "off") else "True"
    return Problem("not-a-bool", key, position, message, f"write {key}:{value}", words if asserts else old)


def not_a_number(option: Option, key: str, token: str, position: int, function: str) -> Problem:
    """A value that does not begin with a number, or one too large to be read."""
    message = f"{key} is {shown(token)}, which is not a number that PyTorch can read"
    return Problem("not-a-number", key, position, message, _example(option), function)


def out_of_range(key: str, token: str, position: int, limits: tuple[str, Release, str]) -> Problem:
    """A number outside its bounds. `limits`: what is accepted, the release, PyTorch's words."""
    accepts, release, words = limits
    message = f"{key} is {bare(token)}; PyTorch {release} accepts {accepts}"
    return Problem("out-of-range", key, position, message, f"give {key} {accepts}", words)


def not_a_power(key: str, token: str, position: int, accepts: str, words: str) -> Problem:
    """A number that must be a power of two and is not."""
    message = f"{bare(token)} in {key} is not {accepts}"
    return Problem("not-a-power-of-two", key, position, message, "use 1, 2, 4, 8, 16, ...", words)


def unclosed_list(key: str, position: int, words: str) -> Problem:
    """A list without its closing bracket. No words: the process crashes."""
    ends = "" if words else "; this release reads on past the end of the text, which was seen to crash the process"
    return Problem("unclosed-list", key, position, f"the list of {key} has no closing bracket{ends}", "add ]", words)


def unknown_backend(token: str, position: int) -> Problem:
    """A backend that does not exist."""
    words = "Unknown allocator backend, options are native and cudaMallocAsync"
    message = f"there is no allocator backend {shown(token)}"
    return Problem(
        "unknown-backend", "backend", position, message, "write backend:native or backend:cudaMallocAsync", words
    )


def backend_changed(key: str, token: str, position: int, running: str) -> Problem:
    """A backend other than the one that was chosen when torch was loaded."""
    words = "Allocator backend parsed at runtime != allocator backend parsed at load time"
    message = f"{key} asks for {token}, but {running} was chosen when torch was loaded, which cannot change"
    hint = f"name {token} once, without blanks, in the variable that is set before torch is imported"
    return Problem("backend-changed", key, position, message, hint, words)


_EXAMPLES = {
    Kind.BOOL: "True",
    Kind.MIB: "256",
    Kind.COUNT: "8",
    Kind.FRACTION: "0.8",
    Kind.DIVISIONS: "4",
    Kind.BACKEND: "native",
}


def _example(option: Option) -> str:
    return f"write it like {option.name}:{_EXAMPLES[option.kind]}"
