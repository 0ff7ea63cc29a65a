"""Who a process is taken for, as the environment says it."""

from __future__ import annotations

from gapless.virtual.posing import Pose


def test_variables_are_torchruns() -> None:
    assert Pose(rank=63, world=256, local_world=8).variables == {
        "RANK": "63",
        "WORLD_SIZE": "256",
        "LOCAL_RANK": "7",
        "LOCAL_WORLD_SIZE": "8",
        "GROUP_RANK": "7",
        "GROUP_WORLD_SIZE": "32",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": "29500",
    }


def test_a_last_machine_may_not_be_full() -> None:
    assert Pose(rank=8, world=9, local_world=8).variables["GROUP_WORLD_SIZE"] == "2"
