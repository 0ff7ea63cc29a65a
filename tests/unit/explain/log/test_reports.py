"""Verdicts of real messages; each was judged by hand from its numbers."""

from __future__ import annotations

import io
import json

import pytest

from gapless.explain.log import LogExplanation, explain_log
from gapless.sources.log import scan_log
from tests.recordings import shared_snapshots
from tests.unit.sources.log.reports import reports

# id: code and confidence, and below the arithmetic by which the harder ones were judged (F free on the card, U reserved
# but unallocated, A in use, S asked for; shares are A / (A + U + F)).
VERDICTS = {
    "r007": ("REC790", "unsure"),  # F 9.28 GiB, S 12.5 MiB
    "r008": ("OOM101", "likely"),  # 99.7 % in use
    "r009": ("OOM101", "likely"),  # 97.5 % in use
    "r013": ("FRAG201", "likely"),  # F + U 110 MiB, S 74 MiB, 93 % in use
    "r014": ("FRAG201", "likely"),  # U 5.81 GiB, S 152 MiB
    "r015": ("OOM101", "likely"),  # 98.6 % in use
    "r018": ("OUT501", "likely"),  # 10.91 - 0.10 - 5.75 = 5.06 GiB outside; F + U 172 MiB, S 156 MiB; 97 % in use
    "r021": ("OOM101", "certain"),  # F + U 570 + 317 +- 11 MiB, S 1006 MiB
    "r023": ("OOM101", "certain"),  # F + U 16 + 51 +- 11 MiB, S 92 MiB
    "r025": ("OOM101", "likely"),  # U 61 +- 11 MiB, S 64 MiB: rounding leaves it open; 98 % in use
    "r027": ("OOM101", "likely"),  # contradicts itself: allocated above reserved
    "r028": ("OOM101", "likely"),  # 98 % in use
    "r031": ("FRAG201", "likely"),  # F + U 0.65 + 2.05 GiB, S 2.25 GiB
    "r032": ("FRAG201", "likely"),  # F + U 4.35 + 2.75 GiB, S 5.80 GiB
    "r033": ("OOM101", "certain"),  # F + U 0.47 + 0.11 GiB, S 1.39 GiB
    "r035": ("OUT501", "likely"),  # 12.24 GiB outside; F + U 1.31 + 0.375, S 1.69: within rounding
    "r037": ("OOM101", "certain"),  # F + U 62 + 430 +- 11 MiB, S 512 MiB
    "r038": ("OOM101", "likely"),  # 97 % in use
    "r039": ("FRAG201", "likely"),  # U 2.30 GiB, S 1.70 GiB
    "r040": ("OOM101", "likely"),  # 98 % in use
    "r044": ("OOM101", "likely"),  # 99.1 % in use
    "r045": ("FRAG201", "likely"),  # F + U 3.71 + 0.75, S 4.22 GiB
    "r047": ("OOM101", "likely"),  # more allocated than the card has: memory of the host
    "r048": ("REC790", "unsure"),  # F 2.35 GiB, S 20 MiB
    "r050": ("OOM101", "likely"),  # 22.14 of 23.14 GiB: 95.7 % in use
    "r052": ("FRAG201", "likely"),  # F + U 514 + 737, S 546 MiB; 91.5 % in use
    "r053": ("REC790", "unsure"),  # cut
    "r054": ("REC790", "unsure"),  # cut
    "r069": ("REC790", "unsure"),  # a library, nothing about the cache
    "r070": ("REC790", "unsure"),
    "r072": ("REC790", "unsure"),
    "r073": ("OOM101", "certain"),  # cudaMallocAsync: 8.28 + 8.01 GiB on 15.70 GiB
    "r075": ("OOM101", "likely"),  # cudaMallocAsync: 15.16 of 15.99 GiB, less a context
    "r076": ("REC790", "unsure"),  # no numbers
    "r077": ("REC790", "unsure"),  # F 7.12 GiB, S 432 MiB
    "r079": ("FRAG201", "likely"),  # F + U 6.22 + 7.10, S 6.64 GiB
    "r080": ("OUT501", "certain"),  # 69 GiB outside, F + U 0.84, S 3.31 GiB
    "r082": ("OUT501", "likely"),  # 3.37 GiB outside, 95.8 % of the rest in use
    "r083": ("REC790", "unsure"),  # F 18.55 GiB, S 12.95 GiB
    "r085": ("OUT501", "certain"),  # 13.2 GiB outside, F + U 1.55, S 4.50 GiB
}
SILENT = {"r017", "r123", "r125", "r127", "r128"}


def explain(text: str) -> LogExplanation:
    """The explanation of a log."""
    return explain_log(scan_log(io.BytesIO(text.encode())), path="run.log")


@pytest.mark.parametrize("report", VERDICTS)
def test_real_messages_get_the_verdict_that_their_numbers_allow(report: str) -> None:
    verdict = explain(reports()[report]["verbatim_message"]).verdict

    assert (verdict.code, verdict.confidence) == VERDICTS[report]


def test_every_other_report_is_named_as_what_it_seems_to_be() -> None:
    for report in sorted(set(reports()) - set(VERDICTS) - SILENT):
        verdict = explain(reports()[report]["verbatim_message"]).verdict

        assert (verdict.code, verdict.confidence) == ("REC791", "unsure")
        assert "is not a PyTorch out-of-memory message: it seems to come from" in verdict.message


def test_prose_and_tables_without_a_message_are_nothing() -> None:
    for report in sorted(SILENT):
        assert explain(reports()[report]["verbatim_message"]).verdict.code == "OK000"


LABELS = {
    "fraction_oom": ("OOM103", "certain"),
    "frag_oom_default": ("OOM101", "certain"),
    "frag_pinned_segments_oom": ("FRAG201", "likely"),
    "leak_keeps_graph_oom": ("OOM101", "certain"),  # a log cannot show what grew
    "train_7b_batch_oom_192g": ("OOM101", "certain"),
    "train_7b_fp32_adam_state_oom": ("OOM101", "likely"),
    "train_resnet18_batch_oom": ("OOM101", "certain"),
    "varlen_oom": ("FRAG201", "likely"),
}


def test_messages_of_recorded_runs_agree_with_the_recordings() -> None:
    paths = [path for path in shared_snapshots() if path.parent.name == "virtual"]
    if not paths:
        pytest.skip("the shared recordings are absent: set GAPLESS_SHARED")
    manifest = (paths[0].parent / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    runs = {entry["name"].partition(".")[0]: entry for entry in map(json.loads, manifest) if entry.get("oom")}
    assert set(runs) == set(LABELS)
    for name, entry in runs.items():
        text, oom = (paths[0].parent / f"{name}.txt").read_text(encoding="utf-8"), entry["oom"]

        found = explain(text)

        assert (found.verdict.code, found.verdict.confidence) == LABELS[name]
        numbers = found.numbers
        assert numbers is not None
        assert numbers.request is not None
        assert numbers.free is not None
        assert numbers.in_use is not None
        assert numbers.unallocated is not None
        assert numbers.limit is not None
        assert numbers.request.low <= oom["rounded_request_bytes"] <= numbers.request.high
        assert numbers.free.low <= oom["device_free_bytes"] <= numbers.free.high
        assert numbers.unallocated.low <= oom["reserved_but_free_bytes"] <= numbers.unallocated.high
        assert numbers.limit.low <= oom["limit_bytes"] <= numbers.limit.high
        assert numbers.in_use_share == pytest.approx(oom["in_use_share_of_limit"], abs=0.001)
        # The table of memory_summary() below the message is of the same moment.
        (summary,) = found.scan.summaries
        assert summary.allocated is not None
        assert summary.allocated.low <= numbers.in_use.high
        assert summary.allocated.high >= numbers.in_use.low
