"""What a log's verdict calls certain is true of whatever really happened, however the message rounded it."""

from __future__ import annotations

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.explain.log import explain_log
from gapless.sources.log import scan_log
from tests.unit.sources.log.messages import GIB, MIB, PARENTHESIS_RELEASES, SENTENCE_RELEASES, Truth

PIECE = 512


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """A state in which everything adds up: in use + private + unallocated + free + outside = capacity."""
    capacity = draw(st.integers(1, 200)) * GIB
    cuts = sorted(draw(st.lists(st.integers(0, capacity // PIECE), min_size=4, max_size=4)))
    parts = [(b - a) * PIECE for a, b in zip([0, *cuts], [*cuts, capacity // PIECE], strict=True)]
    in_use, private, unallocated, free, outside = parts
    near = draw(st.integers(-8, 8)) * MIB
    close = max(free + unallocated + near, 2 * MIB) // (2 * MIB) * 2 * MIB
    request = draw(
        st.sampled_from([close, 2 * MIB, 20 * MIB, draw(st.integers(1, 3 * capacity // (4 * MIB))) * 2 * MIB])
    )
    reserved = in_use + private + unallocated
    return Truth(
        capacity=capacity,
        request=request,
        free=free,
        in_use=in_use,
        private_free=private,
        reserved=reserved,
        this_process=draw(st.none() | st.integers(0, outside // PIECE).map(lambda own: reserved + own * PIECE)),
        allowed=draw(st.none() | st.integers(0, capacity // PIECE).map(lambda count: count * PIECE)),
    )


def check(truth: Truth, release: str) -> None:
    """Every claim that is called certain holds."""
    found = explain_log(scan_log(io.BytesIO(truth.text(release).encode())))
    code, confidence = found.verdict.code, found.verdict.confidence
    counts_private = release in SENTENCE_RELEASES and release not in ("2.1", "2.2", "2.3")
    unallocated = truth.reserved - truth.in_use - (truth.private_free if counts_private else 0)
    room = truth.free if truth.allowed is None else min(truth.free, max(truth.allowed - truth.reserved, 0))
    outside = truth.capacity - truth.reserved - truth.free
    if code in ("FRAG201", "FRAG203"):
        assert confidence != "certain"
    if confidence != "certain":
        return
    if code in ("OOM101", "OUT501", "OOM103"):
        assert room + unallocated < truth.request
    if code == "OOM102":
        assert truth.request > min(truth.capacity, truth.allowed if truth.allowed is not None else truth.capacity)
    if code == "OOM103":
        assert truth.allowed is not None
        assert truth.reserved + truth.request > truth.allowed
        assert truth.free >= truth.request
    if code == "OUT501":
        assert outside >= truth.request - room - unallocated


MESSAGE = Truth(this_process=23 * GIB, processes=((7, GIB),), allowed=20 * GIB, private_free=GIB).text("2.6").encode()
EDITS = st.lists(st.tuples(st.integers(0, len(MESSAGE)), st.integers(0, 40), st.binary(max_size=12)), max_size=6)


@settings(max_examples=200)
@given(EDITS)
def test_damaged_messages_are_answered_all_the_same(edits: list[tuple[int, int, bytes]]) -> None:
    text = MESSAGE
    for at, removed, added in edits:
        text = text[:at] + added + text[at + removed :]

    found = explain_log(scan_log(io.BytesIO(text)))

    assert found.lines()[0].startswith(found.verdict.code)
    json.dumps(found.to_json())


@settings(max_examples=200)
@given(truth=truths(), release=st.sampled_from(PARENTHESIS_RELEASES + SENTENCE_RELEASES))
def test_what_is_called_certain_is_true(truth: Truth, release: str) -> None:
    check(truth, release)
