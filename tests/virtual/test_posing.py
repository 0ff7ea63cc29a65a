"""A process that poses as a rank does what that rank does in the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.virtual.runs import Event, run

if TYPE_CHECKING:
    from pathlib import Path


def until_the_end(events: list[Event]) -> list[Event]:
    """Up to the last allocation: while an interpreter ends, objects go in the order of their addresses on the host."""
    last = max(index for index, event in enumerate(events) if event[0] == "alloc")
    return events[: last + 1]


def test_each_rank_alone_leaves_the_trace_that_it_leaves_among_the_others(python: Path, tmp_path: Path) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    for folder in (together, alone):
        folder.mkdir()
    launcher = (str(python), "-m", "torch.distributed.run", "--nproc-per-node", "2")

    job = run(python, together, "sharded.py", card="24GiB", options=("--gpus", "2"), launcher=launcher)
    posed = run(python, alone, "sharded.py", card="24GiB", options=("--world", "2", "--rank", "0,1"))

    assert (job.status, posed.status) == (0, 0), job.printed + posed.printed
    assert [one["rank"] for one in posed.report["processes"]] == [0, 1]
    assert [one["world"] for one in (*job.report["processes"], *posed.report["processes"])] == [None, None, 2, 2]
    for rank in (0, 1):
        assert until_the_end(posed.events(rank)) == until_the_end(job.events(rank))
        assert f"rank {rank} of 2: {{'of': 2}}, average 1.0" in posed.printed


def test_what_other_ranks_would_have_sent_is_listed(python: Path, tmp_path: Path) -> None:
    posed = run(python, tmp_path, "sharded.py", options=("--world", "256", "--rank", "255"))

    assert "rank 255 of 256: {'of': 256}, average 1.0, told by nobody" in posed.printed
    assert [(one["kind"], one["line"], one["times"]) for one in posed.process["assumptions"]] == [("message", 56, 1)]
