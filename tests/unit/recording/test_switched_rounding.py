"""Settings that were switched while the job ran: the file knows the last ones only."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from gapless.recording import open_recordings
from tests.made_recordings import BASE, MIB, event, segment

if TYPE_CHECKING:
    from pathlib import Path


def test_a_block_from_before_rounding_was_switched_on_is_no_contradiction(tmp_path: Path) -> None:
    """13 MiB in a segment of 14: with two divisions of a power of two they would take 16."""
    trace = [event("segment_alloc", BASE, 14 * MIB), event("alloc", BASE, 13 * MIB)]
    trace += [event("free_requested", BASE, 13 * MIB), event("free_completed", BASE, 13 * MIB)]
    blocks = [{"address": BASE, "size": 14 * MIB, "requested_size": 0, "state": "inactive", "frames": []}]
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "roundup_power2_divisions": {str(1 << i): 2 for i in range(16)}}
    path = tmp_path / "snapshot.pickle"
    content = {"segments": [segment(BASE, blocks)], "device_traces": [trace], "allocator_settings": settings}
    path.write_bytes(pickle.dumps(content, protocol=4))

    (recording,) = open_recordings(str(path))

    assert recording.settings.divisions(13 * MIB) == 2
    assert recording.trace.contradictions == []
