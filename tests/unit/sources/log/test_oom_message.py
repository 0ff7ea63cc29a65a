"""The message of each release, whole, cut, and in the rare wordings."""

from __future__ import annotations

import io

import pytest

from gapless.sources.log import Amount, OomMessage, scan_log
from tests.unit.sources.log.messages import GIB, MIB, PARENTHESIS_RELEASES, SENTENCE_RELEASES, Truth, printed

TRUTH = Truth(
    device=3,
    request=546 * MIB,
    this_process=21 * GIB,
    processes=((77, 300 * MIB), (4242, 2 * GIB)),
    allowed=22 * GIB,
    private_free=46 * MIB,
)


def messages(text: str) -> tuple[OomMessage, ...]:
    """The messages in a text."""
    return scan_log(io.BytesIO(text.encode())).messages


def only(text: str) -> OomMessage:
    """The one message in a text."""
    (message,) = messages(text)
    return message


def amount(size: int) -> Amount:
    """What a printed size tells."""
    return Amount.printed(*printed(size).split())


@pytest.mark.parametrize("release", SENTENCE_RELEASES)
def test_sentences_of_every_release_are_read_whole(release: str) -> None:
    message = only(TRUTH.text(release))

    has_pools = int(release[2:]) >= 4
    assert (message.device, message.request) == (3, amount(546 * MIB))
    assert (message.capacity, message.free, message.allowed) == (amount(24 * GIB), amount(11 * MIB), amount(22 * GIB))
    assert (message.this_process, message.processes) == (
        amount(21 * GIB),
        ((77, amount(300 * MIB)), (4242, amount(2 * GIB))),
    )
    assert message.allocated == amount(20 * GIB + (46 * MIB if has_pools else 0))
    assert message.private_pools == (amount(46 * MIB) if has_pools else None)
    assert message.unallocated == amount(3 * GIB - (46 * MIB if has_pools else 0))
    assert release in message.releases
    assert not message.is_cut
    assert message.hint == ("max_split_size_mb" if release == "2.1" else "expandable_segments")


@pytest.mark.parametrize("release", PARENTHESIS_RELEASES)
def test_parentheses_of_every_release_are_read_whole(release: str) -> None:
    message = only(TRUTH.text(release))

    assert (message.device, message.request, message.allowed) == (3, amount(546 * MIB), amount(22 * GIB))
    assert (message.allocated, message.reserved) == (amount(20 * GIB), amount(23 * GIB))
    assert message.unallocated == amount(23 * GIB) - amount(20 * GIB)
    assert message.releases == PARENTHESIS_RELEASES
    assert message.hint == "max_split_size_mb"


@pytest.mark.parametrize(
    ("release", "fits"),
    [
        ("2.1", "2.1"),
        ("2.2", "2.2 2.4 2.5 2.6 2.7 2.8 2.9"),
        ("2.3", "2.3"),
        ("2.9", "2.2 2.4 2.5 2.6 2.7 2.8 2.9"),
        ("2.10", "2.10"),
        ("2.11", "2.11 2.12 2.13 2.14"),
        ("2.14", "2.11 2.12 2.13 2.14"),
    ],
)
def test_wordings_tell_releases_apart(release: str, fits: str) -> None:
    assert only(Truth().text(release)).releases == tuple(fits.split())


def test_a_missing_hint_may_have_been_cut_off_and_tells_no_release() -> None:
    message = only(Truth(is_expandable=True).text("2.14"))
    cut = only(Truth().text("2.6").partition(" If reserved but")[0])

    assert (message.hint, message.is_cut) == (None, False)
    assert message.releases == cut.releases
    assert {"2.6", "2.14"} < set(message.releases)


def test_2_3_prints_the_device_as_a_byte() -> None:
    assert [only(Truth(device=device).text("2.3")).device for device in range(8)] == list(range(8))


def test_2_3_loses_its_numbers_where_a_c_string_ends() -> None:
    text = Truth().text("2.3").partition("\0")[0]

    message = only(f"torch.cuda.OutOfMemoryError: {text}\nTraceback of the next process 7 has nothing to say\n")

    assert (message.device, message.request, message.capacity) == (0, amount(22 * MIB), None)
    assert (message.releases, message.is_cut) == (("2.3",), True)


@pytest.mark.parametrize("release", ["1.12", "2.1", "2.6", "2.14"])
def test_a_message_cut_anywhere_never_invents_a_number(release: str) -> None:
    text = TRUTH.text(release)
    whole = only(text)

    for length in range(len("CUDA out of memory. Tried to allocate 546.00 MiB"), len(text)):
        for message in messages(text[:length]):
            for name in ("request", "capacity", "free", "this_process", "allowed", "private_pools", "reserved"):
                assert getattr(message, name) in (None, getattr(whole, name)), text[:length]
            assert message.allocated in (None, whole.allocated)
            assert message.is_cut or message.unallocated == whole.unallocated


def test_preemptive_rejection() -> None:
    text = (
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
        "per_process_memory_fraction limit. Requested size: "
    )

    plain, sized = only(text + "2097152"), only(text + "2.00 MiB")

    assert (plain.wording, plain.request, plain.releases) == (
        "preemptive",
        Amount.exact(2 * MIB),
        ("2.12", "2.13", "2.14"),
    )
    assert sized.request == amount(2 * MIB)


def test_more_than_an_exabyte() -> None:
    message = only("RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory.")

    assert (message.wording, message.request) == ("too_large", None)


def test_cuda_malloc_async_with_a_limit() -> None:
    message = only(
        "torch.cuda.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\n"
        "Currently allocated     : 3.50 GiB\nRequested               : 700.00 MiB\n"
        "Device limit            : 23.69 GiB\nFree (according to CUDA): 19.75 GiB\n"
        "PyTorch limit (set by user-supplied memory fraction)\n                        : 4.00 GiB\n"
    )

    assert (message.wording, message.device, message.is_cut) == ("async", 1, False)
    assert (message.allocated, message.request) == (amount(7 * GIB // 2), amount(700 * MIB))
    assert (message.allowed, message.free) == (amount(4 * GIB), Amount.printed("19.75", "GiB"))


def test_several_messages_stand_in_order_with_their_lines() -> None:
    first, second = Truth(device=0), Truth(device=1, request=64 * MIB)

    found = messages(f"start\n{first.text('2.6')}\nmore\n\n{second.text('2.6')}\n")

    assert [(message.device, message.line) for message in found] == [(0, 2), (1, 5)]


def test_one_message_printed_again_counts_as_a_repeat() -> None:
    text = Truth().text("2.6")

    found = messages(f"{text}\nDuring handling of the above exception\n{text}\n[rank1]: {text}\n")

    assert [(message.origin.rank, message.repeats, message.line) for message in found] == [(None, 2, 1), (1, 1, 4)]
