"""What is live at one time, counted by hand."""

from __future__ import annotations

from pathlib import Path

from gapless import _core
from gapless.explain import ExplainOptions, explain
from gapless.explain.lower_bound import lower_bound_bytes
from gapless.replaying import Edits
from gapless.units import MIB
from tests.programs import Program, user
from tests.unit.tune.made import pinned


def test_the_failing_request_counts_and_only_at_its_own_moment(tmp_path: Path) -> None:
    """50 and ten times 10 stay, ten times 100 went; 105 were asked for."""
    recording = pinned(tmp_path)

    assert lower_bound_bytes(recording) == 1150 * MIB
    assert explain(recording).lower_bound_bytes == 1150 * MIB
    program = Program(capacity_bytes=500 * MIB)
    program.alloc("kept", 300 * MIB, at=user(1))
    program.alloc("more", 250 * MIB, at=user(2))
    failed = program.open(tmp_path)

    assert explain(failed).lower_bound_bytes == 550 * MIB
    assert explain(failed, ExplainOptions(at="peak")).lower_bound_bytes == 300 * MIB


def test_edits_count(tmp_path: Path) -> None:
    program = Program(capacity_bytes=500 * MIB)
    program.alloc("first", 300 * MIB, at=user(1))
    program.alloc("second", 100 * MIB, at=user(2))
    program.alloc("third", 250 * MIB, at=user(3))
    recording = program.open(tmp_path)
    failing = int(recording.oom_events[-1])
    earlier = Edits(free_before_event=[failing, _core.NEVER])
    smaller = Edits(requested=[0, 100 * MIB], failed_request_factor=0.5)

    assert lower_bound_bytes(recording, failing) == 650 * MIB
    assert lower_bound_bytes(recording, failing, earlier) == 400 * MIB
    assert lower_bound_bytes(recording, failing, smaller) == 225 * MIB
    assert lower_bound_bytes(recording, failing, Edits(free_before_event=[0, _core.NEVER])) == 650 * MIB
