"""`gapless explain` with what a file alone does not hold: the card's size, a log, the room that others need."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gapless.cards import find_card
from tests.integration.run import gapless
from tests.recordings import ROOT

FOLDER = Path(__file__).parents[1] / "fixtures" / "verdicts"
ROWS = {row["name"]: row for row in json.loads((FOLDER / "manifest.json").read_text())["recordings"]}
NCCL = ROWS["out502_hit_communicator_after_large_pictures"]
CUBLAS_ASKED = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
OF_THE_CARD = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB"
    " of which 4.00 MiB is free. Of the allocated memory 8.00 GiB is allocated by PyTorch, and 1.00 MiB is reserved by"
    " PyTorch but unallocated.\n"
)


def file_of(name: str) -> str:
    return str(FOLDER / ROWS[name]["file"])


def explained(*arguments: str) -> dict[str, Any]:
    done = gapless("explain", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["expected"].get("needs") == "card"])
def test_the_size_of_the_card_shows_what_others_hold(name: str) -> None:
    row = ROWS[name]

    without, with_card = (
        explained(file_of(name), "--no-fixes", *card)
        for card in ([], ["--recorded-card", str(row["card"]["card_bytes"])])
    )

    assert with_card["verdict"]["code"] == row["expected"]["verdict"] == "OUT501"
    assert without["verdict"]["code"] != "OUT501"


def test_the_usual_context_is_nobody_else() -> None:
    name = "out501_near_miss_usual_context"

    for card in ("8GiB", str(ROWS[name]["card"]["card_bytes"])):
        assert explained(file_of(name), "--no-fixes", "--recorded-card", card)["verdict"]["code"] == "OOM101"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["expected"].get("needs") == "log"])
def test_a_log_tells_which_library_failed(name: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"step 12 loss 2.1\n{ROWS[name].get('facts', {}).get('log', CUBLAS_ASKED)}\n")

    answer = explained(file_of(name), "--log", str(log))

    assert answer["verdict"]["code"] == "OUT502"
    assert answer["state"]["at"] == "end"
    assert answer["fixes"] == []  # the card is not known


def test_a_bound_that_the_job_does_not_fit_under_is_no_advice(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(NCCL["facts"]["log"] + "\nncclCommInitRank: Failed to CUDA calloc 2147483648 bytes\n")

    answer = explained(file_of(NCCL["name"]), "--log", str(log), "--card", "11872MiB")

    assert "asked for 2.00 GiB" in answer["verdict"]["message"]
    assert answer["verdict"]["what_to_do"].startswith("Call torch.cuda.empty_cache() right before")
    assert "10.29 GiB in use" in answer["verdict"]["what_to_do"]
    assert answer["fixes"] == []


def test_a_library_that_failed_on_a_card_full_of_live_memory_was_not_starved_by_the_cache(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(NCCL["facts"]["log"])

    answer = explained(file_of("out502_near_miss_card_full_of_live_memory"), "--log", str(log))

    assert answer["verdict"]["code"] == "OOM101"
    assert answer["verdict"]["message"].startswith("NCCL did not get memory beside the 11.00 GiB that PyTorch has")


def test_what_others_hold_is_not_said_flatly(tmp_path: Path) -> None:
    """2 GiB of a card of 40 were asked for, of which PyTorch had reserved a part: others hold the rest, probably."""
    name, log = "ok000_hit_ordinary_training", tmp_path / "train.log"
    log.write_text(NCCL["facts"]["log"] + "\nncclCommInitRank: Failed to CUDA calloc 2147483648 bytes\n")
    sure = explained(file_of(name), "--log", str(log), "--recorded-card", "40GiB")
    log.write_text(NCCL["facts"]["log"])
    unsure = explained(file_of(name), "--log", str(log), "--recorded-card", "40GiB")

    assert (sure["verdict"]["code"], sure["verdict"]["confidence"]) == ("OUT501", "likely")
    assert sure["verdict"]["why"].endswith("; the rest was probably not free either.")
    assert unsure["verdict"]["why"].endswith("; the rest may not have been free either.")


def test_a_log_whose_first_failure_is_pytorchs_changes_nothing_but_the_card(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(OF_THE_CARD + NCCL["facts"]["log"])
    name = "out501_hit_card_shared_from_the_start"

    done = gapless("explain", file_of(name), "--log", str(log), "--no-fixes")

    assert done.stdout.splitlines()[0] == "OUT501 outside-pytorch (likely)"  # the message names the card: 24 GiB
    assert done.stderr == f"gapless: {log} tells of no library beside PyTorch that ran out of memory\n"


def test_a_failure_in_the_log_that_the_recording_does_not_show_is_pointed_out(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1\n" + OF_THE_CARD)

    done = gapless("explain", file_of("ok000_hit_ordinary_training"), "--log", str(log))

    assert done.stdout.splitlines()[0] == "OK000 nothing-wrong"
    assert "gapless: line 2 of the log says that PyTorch ran out of memory; this recording shows no such" in done.stderr


def test_room_for_others_needs_a_card() -> None:
    name = "out502_near_miss_room_for_both"

    done = gapless("explain", file_of(name), "--leave-free", "2GiB")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--leave-free: nothing failed in this recording, so it does not show how large the card is" in done.stderr
    assert "--card" in done.stderr


def test_room_for_others_that_the_cache_takes() -> None:
    name = "out502_near_miss_room_for_both"

    assert explained(file_of(name), "--card", "24GiB", "--leave-free", "2GiB")["verdict"]["code"] == "OK000"
    answer = explained(file_of(name), "--card", "24GiB", "--leave-free", "6GiB")

    assert answer["verdict"]["code"] == "OUT502"
    fix = next(fix for fix in answer["fixes"] if fix["kind"] == "setting")
    assert answer["verdict"]["what_to_do"].startswith(f"S{fix['change'][1:]}: the recorded run fits. Or call ")
    assert (fix["outcome"], fix["grade"]) == ("serves_request", "proved")
    assert "per_process_memory_fraction:0.749" in fix["conf"]  # a page less than the three quarters that stay
    assert fix["reserved_bytes_peak_after"] <= 18 << 30 < fix["reserved_bytes_peak_before"]
    assert explained(file_of(name), "--card", "24GiB", "--leave-free", "22GiB")["verdict"]["code"] == "OOM101"


def test_a_card_too_small_for_pytorch_alone_is_not_starved_by_its_cache() -> None:
    answer = explained(file_of("out502_near_miss_room_for_both"), "--card", "4GiB", "--leave-free", "1GiB")

    assert answer["verdict"]["code"] == "OOM101"
    assert "does not fit beside the" in answer["verdict"]["message"]
    assert "empty_cache" not in answer["verdict"]["what_to_do"]


def test_a_snapshot_is_no_log() -> None:
    done = gapless("explain", file_of(NCCL["name"]), "--log", file_of(NCCL["name"]))

    assert done.returncode == 2
    assert "is not a log" in done.stderr


def test_what_stays_free_is_not_offered_to_pytorch() -> None:
    demo = str(ROOT / "examples" / "demo_out_of_memory.pickle.gz")

    done = gapless("explain", demo, "--card", "24GiB", "--leave-free", "6GiB", "--no-fixes")

    assert re.search(r"may reserve +18\.00 GiB", done.stdout)


@pytest.mark.parametrize("option", ["--leave-free", "--log"])
def test_a_log_has_nothing_to_hold_them_against(option: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(OF_THE_CARD)

    done = gapless("explain", log, option, "1GiB")

    assert done.returncode == 2
    assert f"{option}: a log has no events" in done.stderr


def test_no_setting_is_offered_where_others_hold_the_memory() -> None:
    assert explained(file_of("out501_hit_library_takes_more_and_more"))["fixes"] == []


def test_a_setting_is_offered_where_its_rounding_fills_the_card() -> None:
    (fix, *_) = explained(file_of("frag204_hit_halves_of_powers_of_two"))["fixes"]

    assert fix["change"] == "leave out roundup_power2_divisions"
    assert fix["outcome"] == "serves_request"


def library_failed(tmp_path: Path) -> str:
    """A log in which NCCL did not get 2 GiB."""
    log = tmp_path / "nccl.log"
    log.write_text(NCCL["facts"]["log"] + "\nncclCommInitRank: Failed to CUDA calloc 2147483648 bytes\n")
    return str(log)


def test_the_card_to_run_on_says_nothing_of_the_card_that_was_recorded(tmp_path: Path) -> None:
    """What others hold is told by --recorded-card alone: its size, to the byte, and the least of what is known."""
    file, log = file_of("ok000_hit_ordinary_training"), library_failed(tmp_path)

    (found,) = (
        finding
        for finding in explained(file, "--log", log, "--recorded-card", "40GiB", "--card", "80GiB")["findings"]
        if finding["code"] == "OUT501"
    )
    alone = explained(file, "--log", log, "--card", "80GiB")

    (named,) = (
        finding
        for finding in explained(file, "--log", log, "--recorded-card", "h200")["findings"]
        if finding["code"] == "OUT501"
    )

    assert found["measurements"]["card_bytes"] == (40 << 30) - (1 << 29)  # less a context
    assert named["measurements"]["card_bytes"] == find_card("h200").capacity_bytes  # whose context is larger
    assert "OUT501" not in {finding["code"] for finding in alone["findings"]}


def test_a_bound_is_found_for_the_card_that_was_recorded(tmp_path: Path) -> None:
    log = library_failed(tmp_path)
    Path(log).write_text(NCCL["facts"]["log"] + "\nncclCommInitRank: Failed to CUDA calloc 268435456 bytes\n")

    answer = explained(file_of(NCCL["name"]), "--log", log, "--recorded-card", "11872MiB")

    assert answer["verdict"]["code"] == "OUT502"
    assert any("per_process_memory_fraction" in (fix["conf"] or "") for fix in answer["fixes"])


def test_a_request_larger_than_what_others_left_is_not_larger_than_the_card() -> None:
    """20 GiB do not fit beside what is in use of 24: only on a card that small it would be larger than all."""
    codes = [
        [
            finding["code"]
            for finding in explained(file_of("oom102_hit_scores_of_a_long_text"), "--no-fixes", *card)["findings"]
        ]
        for card in ([], ["--recorded-card", "80GiB"], ["--recorded-card", "40GiB"])
    ]

    assert ["OOM102" in some for some in codes] == [True, False, True]
