"""The one line that records a failure, run with a torch that only remembers its calls."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from gapless.explain.log.advice import RECORDING

ROOT = Path(__file__).parents[4]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """What the line does to PyTorch; the line stands alone."""
    fake = MagicMock()
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.delenv("RANK", raising=False)
    exec(RECORDING, {})
    return fake


def test_it_records_and_watches_for_a_failure(torch: MagicMock) -> None:
    torch.cuda.memory._record_memory_history.assert_called_once_with(max_entries=1_000_000, stacks="python")
    torch._C._cuda_attach_out_of_memory_observer.assert_called_once()
    torch.cuda.memory._dump_snapshot.assert_not_called()


@pytest.mark.parametrize(("rank", "name"), [(None, "oom_rank0.pickle"), ("3", "oom_rank3.pickle")])
def test_a_failure_is_written_under_the_name_of_its_rank(
    torch: MagicMock, monkeypatch: pytest.MonkeyPatch, rank: str | None, name: str
) -> None:
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
    (observer,) = torch._C._cuda_attach_out_of_memory_observer.call_args.args

    observer(0, 1, 2, 3)

    torch.cuda.memory._dump_snapshot.assert_called_once_with(name)


@pytest.mark.parametrize("page", ["README.md", "docs/record.md"])
def test_documents_show_it_as_one_line(page: str) -> None:
    assert RECORDING in (ROOT / page).read_text().splitlines()
