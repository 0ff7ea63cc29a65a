"""Any message of any release, anywhere in any noise, is read back to the bytes that its rounding allows."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.sources.log import Amount, OomMessage, scan_log
from tests.unit.sources.log.messages import GIB, MIB, PARENTHESIS_RELEASES, SENTENCE_RELEASES, Truth, printed

NOISE = st.text(
    st.characters(codec="utf-8", exclude_characters="\"'`"), max_size=300
).filter(lambda text: "memory" not in text and not text[-1:].isalnum())  # fmt: skip
SIZES = st.one_of(st.integers(0, 4096), st.integers(0, 300 * GIB), st.integers(0, 4000).map(lambda count: count * MIB))
TRUTHS = st.builds(
    Truth,
    device=st.integers(0, 8),
    request=SIZES,
    capacity=SIZES,
    free=SIZES,
    this_process=st.none() | SIZES,
    processes=st.lists(st.tuples(st.integers(1, 1 << 22), SIZES), max_size=9).map(tuple),
    allowed=st.none() | SIZES,
    in_use=SIZES,
    private_free=SIZES,
    reserved=st.just(1 << 42),
    is_expandable=st.booleans(),
)


def amount(size: int | None) -> Amount | None:
    """What a printed size tells."""
    return None if size is None else Amount.printed(*printed(size).split())


def check(message: OomMessage, truth: Truth, release: str) -> None:
    """A message says what happened, and no more."""
    is_new = release in SENTENCE_RELEASES
    private = truth.private_free if is_new and release not in ("2.1", "2.2", "2.3") else 0
    assert release in message.releases
    assert message.device == truth.device
    assert (message.request, message.capacity) == (amount(truth.request), amount(truth.capacity))
    assert (message.free, message.allowed) == (amount(truth.free), amount(truth.allowed))
    assert message.allocated == amount(truth.in_use + private)
    assert message.private_pools == (amount(private) if private else None)
    assert message.unallocated is not None
    assert message.unallocated.low <= truth.reserved - truth.in_use - private <= message.unallocated.high
    if is_new:
        assert message.this_process == amount(truth.this_process)
        assert message.processes == tuple((pid, amount(size)) for pid, size in truth.processes)


@settings(max_examples=100)
@given(truth=TRUTHS, release=st.sampled_from(PARENTHESIS_RELEASES + SENTENCE_RELEASES), before=NOISE, after=NOISE)
def test_messages_are_read_back_from_noise(truth: Truth, release: str, before: str, after: str) -> None:
    text = f"{before}\nRuntimeError: {truth.text(release)}\n{after}"

    (message,) = scan_log(io.BytesIO(text.encode())).messages

    check(message, truth, release)
    assert message.line == before.count("\n") + 2


@settings(max_examples=100)
@given(st.lists(st.sampled_from([Truth().text("2.6")[at : at + 24] for at in range(0, 600, 12)] + ["\n", " "])))
def test_pieces_of_messages_in_any_order_never_crash(pieces: list[str]) -> None:
    scan_log(io.BytesIO("".join(pieces).encode()))


@settings(max_examples=50)
@given(st.binary(max_size=2000), st.binary(max_size=2000))
def test_any_bytes_around_a_message_leave_it_readable(before: bytes, after: bytes) -> None:
    scan = scan_log(io.BytesIO(before + b"\n" + Truth().text("2.9").encode() + b"\n" + after))

    assert len(scan.messages) == 1
