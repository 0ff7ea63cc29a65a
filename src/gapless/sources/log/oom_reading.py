"""Finds PyTorch's out-of-memory messages in squeezed text and reads their pieces; `wordings` says how each looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gapless.sources.log import wordings
from gapless.sources.log.amount import AMOUNT_PATTERN, Amount
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.text import Squeezed

_AMOUNT = re.compile(AMOUNT_PATTERN)
_UNKNOWN_BYTES = 1 << 60  # 2**64 stands for no limit, and on Windows for memory that the driver does not tell
_SENTENCE_AMOUNTS = ("capacity", "free", "this_process", "allowed", "allocated", "private_pools", "unallocated")


def find_messages(squeezed: Squeezed) -> Iterator[tuple[int, int, OomMessage]]:
    """Each message in squeezed text with its begin and end there; origin, text and line are left to the caller."""
    for start in wordings.START.finditer(squeezed.text):
        named = wordings.BACKEND.search(squeezed.text[max(start.start() - 24, 0) : start.start()])
        backend = named["name"] if named else None
        is_bare = start["request"] and squeezed.text[start.end() : start.end() + 1] not in (".", "(")
        if backend not in (None, "CUDA", "HIP") or (is_bare and not named):
            continue
        end, message = _read(squeezed.text, start)
        if message.wording != "bare" or named:
            begin = start.start() - (len(named[0]) if named else 0)
            yield begin, end, replace(message, backend=backend or "CUDA")


def _read(text: str, start: re.Match[str]) -> tuple[int, OomMessage]:
    """The message that begins at `start`, and where it ends."""
    if start["too_large"]:
        return start.end(), OomMessage(wording="too_large", text="")
    if start["preemptive"]:
        size = wordings.PREEMPTIVE_SIZE.match(text, start.end())
        return size.end() if size else start.end(), _preemptive(size)
    if start["device"]:
        return _read_async(text, start)
    request = _amount(start["request"])
    if opened := wordings.PARENTHESIS_OPEN.match(text, start.end()):
        return _read_parenthesis(text, opened, request)
    return _read_sentences(text, start.end(), request)


def _preemptive(size: re.Match[str] | None) -> OomMessage:
    facts = wordings.releases_of({"preemptive"})
    printed = size["request"] if size else ""
    request = Amount.exact(int(printed)) if printed.isdigit() else _amount(printed)
    return OomMessage(wording="preemptive", text="", request=request, releases=facts, is_cut=size is None)


def _read_async(text: str, start: re.Match[str]) -> tuple[int, OomMessage]:
    """The lines of the cudaMallocAsync backend."""
    fields: dict[str, Any] = {}
    at = start.end()
    while piece := wordings.ASYNC_PIECE.match(text, at):
        fields[wordings.ASYNC_FIELDS[piece["word"]]] = _amount(piece["amount"])
        at = piece.end()
    allowed = fields.pop("allowed", None)
    if allowed and allowed.value < _UNKNOWN_BYTES:
        fields["allowed"] = allowed
    cut, releases = allowed is None, wordings.releases_of({"async"})
    return at, OomMessage("async", "", device=int(start["device"]), is_cut=cut, releases=releases, **fields)


def _read_parenthesis(text: str, opened: re.Match[str], request: Amount | None) -> tuple[int, OomMessage]:
    """The wording up to 2.0."""
    fields: dict[str, Any] = {}
    at, closed, facts = opened.end(), False, set()
    while not closed and (piece := wordings.PARENTHESIS_PIECE.match(text, at)):
        fields[wordings.PARENTHESIS_FIELDS[piece["word"]]] = _amount(piece["amount"])
        at, closed = piece.end(), piece["end"] == ")"
    allocated, reserved = fields.get("allocated"), fields.get("reserved")
    if reserved:
        facts.add("reserved in total")
        if allocated:
            fields["unallocated"] = (reserved - allocated).at_least_zero()
    elif "unallocated" in fields:
        facts.add("cached")
    at, hint = _hint(text, at, facts)
    if reserved and hint:
        facts.add("hint after parenthesis")
    message = OomMessage(
        "parenthesis",
        "",
        device=int(opened["device"]),
        request=request,
        hint=hint,
        is_cut=not closed,
        **fields,
    )
    return at, replace(message, releases=wordings.releases_of(facts))


def _read_sentences(text: str, at: int, request: Amount | None) -> tuple[int, OomMessage]:
    """The wording since 2.1."""
    if cut := wordings.SENTENCES_CUT_AT_NUL.match(text, at):
        releases = wordings.releases_of({"raw device"})
        return cut.end(), OomMessage("sentences", "", device=0, request=request, releases=releases, is_cut=True)
    found, processes, at = _read_pieces(text, at)
    if not found:
        return at, OomMessage("bare", "", request=request, is_cut=True)
    facts = {"sentences"}
    if spelling := found.get("spelling"):
        facts.add(spelling)
    device = found.get("device")
    if device is not None:
        facts.add("device as a number" if device.isdigit() else "raw device")
    if "private_pools" in found:
        facts.add("private pools")
    at, hint = _hint(text, at, facts)
    amounts: dict[str, Any] = {name: _known(found[name]) for name in _SENTENCE_AMOUNTS if name in found}
    message = OomMessage(
        "sentences", "", device=_device(device), request=request, processes=processes, hint=hint,
        is_cut="unallocated" not in found, **amounts,
    )  # fmt: skip
    return at, replace(message, releases=wordings.releases_of(facts))


def _read_pieces(text: str, at: int) -> tuple[dict[str, str], tuple[tuple[int, Amount], ...], int]:
    """The sentences that follow one another at `at`: their groups, the processes listed, and where they end."""
    found: dict[str, str] = {}
    processes: list[tuple[int, Amount]] = []
    order = list(wordings.SENTENCES)
    while piece := next((match for pattern in order if (match := pattern.match(text, at))), None):
        at = piece.end()
        groups = {name: value for name, value in piece.groupdict().items() if value is not None}
        if "pid" in groups:
            amount = _known(groups["process"])
            if amount and len(processes) < wordings.PROCESSES_MAX:
                processes.append((int(groups["pid"]), amount))
        else:
            order.remove(piece.re)
            found.update(groups)
    return found, tuple(processes), at


def _hint(text: str, at: int, facts: set[str]) -> tuple[int, str | None]:
    """Where the hint ends and what it names; what it tells of the release goes to `facts`."""
    match = wordings.HINT.match(text, at)
    if not match:
        return at, None
    if variable := match["variable"]:
        facts |= {"hint expandable_segments", f"hint {variable}"}
    elif match["what"]:
        facts.add("hint max_split_size_mb")
    if "https://" in match[0]:
        facts.add("hint at docs.pytorch.org" if match["site"] else "hint at pytorch.org")
    return match.end(), "expandable_segments" if match["variable"] else match["what"] or "unreadable"


def _device(text: str | None) -> int | None:
    """The device; 2.3 printed it as one byte."""
    if not text:
        return None
    return int(text) if text.isdigit() else ord(text)


def _known(text: str) -> Amount | None:
    """An amount, unless it is the driver's word for not knowing."""
    amount = _amount(text)
    return amount if amount and amount.value < _UNKNOWN_BYTES else None


def _amount(text: str | None) -> Amount | None:
    match = _AMOUNT.fullmatch(text or "")
    if not match:
        return None
    number = match[1] if match[2] is None else f"{match[1]}.{match[2]}"
    return Amount.printed(number, match[3])
