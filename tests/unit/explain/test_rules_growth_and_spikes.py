"""GROW301 and PEAK401 on training loops, with exact numbers."""

from __future__ import annotations

from pathlib import Path

from gapless.cards import KNOWN_CARDS
from gapless.explain import ExplainOptions, explain
from tests.unit.explain.diary import GIB, MIB, Diary, at, model_call, optimizer_step
from tests.unit.explain.programs import backward, build, forward, train


def training(capacity_bytes: int, steps: int, keep_bytes: int = 0) -> Diary:
    diary = Diary(capacity_bytes=capacity_bytes)
    build(diary)
    train(diary, [60 * MIB] * steps, keep_bytes)
    return diary


def test_growth_is_the_error_when_the_request_would_fit_without_it(tmp_path: Path) -> None:
    diary = training(2 * GIB, 40, keep_bytes=64 * MIB)
    assert diary.events[-1]["action"] == "oom"

    explanation = explain(diary.open(tmp_path))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "GROW301"
    assert finding.severity == "error"
    (growth,) = explanation.growth
    assert growth.at == ("train.py", 21, "train")
    assert growth.bytes_per_step == 64 * MIB
    assert finding.measurements["bytes_per_step"] == 64 * MIB
    assert finding.measurements["bytes_total"] == growth.steps * 64 * MIB == finding.bytes
    assert "train.py:21" in explanation.verdict.what_to_do


def test_growth_that_will_fill_every_card_is_the_error(tmp_path: Path) -> None:
    explanation = explain(training(8 * GIB, 12, keep_bytes=64 * MIB).open(tmp_path))

    assert (explanation.verdict.code, explanation.verdict.confidence) == ("GROW301", "likely")
    assert explanation.verdict.message.startswith("Nothing failed yet.")
    peak = int(explanation.recording.curves["active"].max())
    largest = max(card.card.capacity_bytes for card in KNOWN_CARDS)
    assert explanation.findings[0].measurements["steps_left"] == (largest - peak) // (64 * MIB)
    assert "on the largest card known here" in explanation.verdict.why


def test_growth_stays_the_reason_where_a_log_says_that_a_library_failed_beside_it(tmp_path: Path) -> None:
    recording = training(2 * GIB, 40, keep_bytes=64 * MIB).open(tmp_path)

    explanation = explain(recording, ExplainOptions(outside_failure="NCCL"))

    assert (explanation.verdict.code, explanation.verdict.confidence) == ("GROW301", "likely")
    assert explanation.verdict.message.startswith("NCCL did not get memory beside the ")
    assert "A larger card or other settings only delay the failure." in explanation.verdict.what_to_do
    assert "OOM101" not in {finding.code for finding in explanation.findings}


def test_growth_is_not_the_reason_where_others_hold_what_a_library_lacked(tmp_path: Path) -> None:
    recording = training(2 * GIB, 40, keep_bytes=64 * MIB).open(tmp_path)

    explanation = explain(recording, ExplainOptions(outside_failure="NCCL", recorded_card_bytes=24 * GIB))

    assert explanation.verdict.code == "OUT501"


def test_growth_is_held_against_the_card_that_is_named(tmp_path: Path) -> None:
    recording = training(8 * GIB, 12, keep_bytes=64 * MIB).open(tmp_path)

    explanation = explain(recording, ExplainOptions(card_bytes=24 * GIB))

    peak = int(recording.curves["active"].max())
    assert explanation.findings[0].measurements["steps_left"] == (24 * GIB - peak) // (64 * MIB)
    assert "the 24.00 GiB that PyTorch can reserve are full" in explanation.verdict.why
    assert "largest card" not in explanation.verdict.why


def test_growth_too_slow_to_fill_the_card_is_a_warning(tmp_path: Path) -> None:
    explanation = explain(training(8 * GIB, 12, keep_bytes=4 * MIB).open(tmp_path))

    assert explanation.verdict.code == "OK000"
    assert ("GROW301", "warning") in {(finding.code, finding.severity) for finding in explanation.findings}


def test_growth_of_few_steps_is_a_warning(tmp_path: Path) -> None:
    explanation = explain(training(8 * GIB, 8, keep_bytes=64 * MIB).open(tmp_path))

    assert explanation.verdict.code == "OK000"
    assert [(finding.code, finding.severity) for finding in explanation.findings[1:]] == [("GROW301", "warning")]
    assert explanation.findings[1].measurements["steps"] == 6  # seven boundaries after the warm-up step


def test_growth_over_very_many_steps_is_measured_over_all(tmp_path: Path) -> None:
    (growth,) = explain(training(80 * GIB, 700, keep_bytes=4 * MIB).open(tmp_path)).growth

    assert (growth.steps, growth.bytes_per_step, growth.bytes_total) == (698, 4 * MIB, 698 * 4 * MIB)


def test_growth_that_is_not_the_reason_is_a_warning(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    build(diary)
    assert train(diary, [60 * MIB] * 8, keep_bytes=8 * MIB)
    assert not train(diary, [800 * MIB])

    explanation = explain(diary.open(tmp_path))

    assert explanation.verdict.code == "OOM101"
    assert ("GROW301", "warning") in {(finding.code, finding.severity) for finding in explanation.findings}


def test_training_that_keeps_nothing_does_not_grow(tmp_path: Path) -> None:
    assert explain(training(8 * GIB, 8).open(tmp_path)).growth == ()


def test_shapes_that_vary_do_not_grow(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    train(diary, [n * MIB for n in (60, 90, 30, 80, 61, 20, 75, 44, 50)])

    assert explain(diary.open(tmp_path)).growth == ()


def test_batches_that_grow_are_no_growth(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=3 * GIB)
    build(diary)
    for step in range(1, 40):
        diary.need(f"input{step}", 8 * step * MIB, at("train.py", 18, "load"))  # there until the next one is
        if step > 1:
            diary.free(f"input{step - 1}")
        if not train(diary, [20 * step * MIB]):
            break

    explanation = explain(diary.open(tmp_path))

    assert explanation.case.steps is not None
    assert explanation.growth == ()
    assert explanation.verdict.code != "GROW301"


def test_a_cache_that_is_copied_to_a_longer_one_grows(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    diary.need("cache0", 64 * MIB, at("train.py", 30, "extend"))
    for step in range(1, 10):
        train(diary, [20 * MIB])
        diary.need(f"cache{step}", 64 * (step + 1) * MIB, at("train.py", 30, "extend"))
        diary.free(f"cache{step - 1}")

    (growth,) = explain(diary.open(tmp_path)).growth

    assert growth.at == ("train.py", 30, "extend")
    assert growth.bytes_per_step == 64 * MIB


def test_a_loop_that_loads_does_not_grow(tmp_path: Path) -> None:
    diary = Diary()
    for number in range(12):
        diary.need(f"shard{number}", 200 * MIB, at("load.py", 3, "load"))
        diary.need(f"index{number}", 20 * MIB, at("load.py", 4, "load"))

    explanation = explain(diary.open(tmp_path))

    assert explanation.case.steps is not None
    assert explanation.growth == ()


def test_a_loop_that_serves_and_keeps_grows(tmp_path: Path) -> None:
    diary = Diary()
    for number in range(12):
        diary.need("answer", 200 * MIB, at("serve.py", 3, "serve"))
        diary.need(f"log{number}", 20 * MIB, at("serve.py", 4, "serve"))
        diary.free("answer")

    (growth,) = explain(diary.open(tmp_path)).growth

    assert (growth.at, growth.bytes_per_step) == (("serve.py", 4, "serve"), 20 * MIB)


def test_growth_decides_where_holes_only_make_it_fail_earlier(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=8 * GIB)
    build(diary)
    step = 0
    while diary.malloc("large", 300 * MIB, at("train.py", 17, "load")):
        diary.free("large")
        diary.need(f"kept{step}", 72 * MIB, at("train.py", 21, "train"))  # in what was just freed
        train(diary, [20 * MIB])
        step += 1

    explanation = explain(diary.open(tmp_path))

    refusal = explanation.case.refusal
    assert refusal is not None
    assert not refusal.is_full
    assert explanation.verdict.code == "GROW301"
    assert {finding.code for finding in explanation.findings} >= {"GROW301", "FRAG201"}


def test_layers_of_the_first_forward_pass_are_no_steps(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    build(diary)
    layer = 0
    while diary.malloc(f"activation{layer}", 60 * MIB, model_call(8)):
        layer += 1

    explanation = explain(diary.open(tmp_path))

    assert explanation.case.steps is None
    assert explanation.verdict.code == "OOM101"
    assert explanation.verdict.why.endswith("In use: activations 840.00 MiB, weights 160.00 MiB.")


def test_memory_that_changes_hands_does_not_grow(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    for number in range(12):
        diary.malloc(f"old{number}", 50 * MIB, at("train.py", 12))
    for number in range(12):
        diary.malloc(f"new{number}", 50 * MIB, at("train.py", 40, "convert"))
        diary.malloc(f"scratch{number}", 100 * MIB, at("train.py", 41, "convert"))
        diary.free(f"old{number}", f"scratch{number}")

    explanation = explain(diary.open(tmp_path))

    assert explanation.case.steps is not None
    assert explanation.growth == ()


def test_spike_of_an_optimizer_is_measured(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    train(diary, [20 * MIB] * 4)
    lists = optimizer_step(function="_multi_tensor_adam")
    for number in range(6):
        diary.malloc(f"list{number}", 80 * MIB, lists)
    diary.free(*(f"list{number}" for number in range(6)))
    train(diary, [20 * MIB])

    explanation = explain(diary.open(tmp_path))

    (finding,) = (finding for finding in explanation.findings if finding.code == "PEAK401")
    assert finding.severity == "info"
    assert finding.measurements == {
        "spike_bytes": 480 * MIB,
        "active_bytes": 960 * MIB,
        "spike_blocks": 6,
        "largest_bytes": 80 * MIB,
        "places": 1,
        "active_bytes_peak": 960 * MIB,
        "active_bytes_peak_without": 664 * MIB,
    }
    assert "in 6 blocks: allocated at train.py:22." in finding.message
    assert "fused=True" in finding.what_to_do


def test_spike_of_several_places_is_one(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    build(diary)
    for step in range(5):
        train(diary, [20 * MIB])
        for number in range(50):
            diary.malloc(f"small{step}.{number}", 4096, at("train.py", 30, "train"))
            diary.free(f"small{step}.{number}")
    loss = [("site-packages/torch/nn/functional.py", 3462, "cross_entropy"), ("train.py", 21, "train")]
    for number, frames in enumerate((at("train.py", 20, "train"), loss, at("metrics.py", 7, "top"))):
        diary.malloc(f"part{number}", (80 + 40 * (number == 1)) * MIB, frames)
    diary.free("part0", "part1", "part2")
    train(diary, [20 * MIB] * 2)

    explanation = explain(diary.open(tmp_path))

    (finding,) = (finding for finding in explanation.findings if finding.code == "PEAK401")
    assert finding.bytes == 280 * MIB
    assert "120.00 MiB at train.py:21, 80.00 MiB at train.py:20, 80.00 MiB at metrics.py:7." in finding.message
    assert "cross entropy" in finding.what_to_do
    assert len(finding.places) == 3


def test_activations_made_just_before_a_failure_are_no_spike(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    build(diary)
    assert train(diary, [20 * MIB] * 4)
    assert not train(diary, [150 * MIB])

    assert "PEAK401" not in {finding.code for finding in explain(diary.open(tmp_path)).findings}


def test_gradients_that_go_before_the_next_batch_is_made_are_no_spike(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    for _ in range(5):
        forward(diary, 4 * MIB)
        backward(diary)
        diary.free(*(f"gradient{layer}" for layer in range(4)), "input")

    explanation = explain(diary.open(tmp_path))

    assert "PEAK401" not in {finding.code for finding in explanation.findings}
    assert sum(holder.bytes for holder in explanation.holders if holder.kind == "gradients") == 160 * MIB


def test_flat_memory_has_no_spike(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    train(diary, [20 * MIB] * 4)

    assert "PEAK401" not in {finding.code for finding in explain(diary.open(tmp_path)).findings}
