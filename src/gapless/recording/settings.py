"""The settings that a snapshot says were in force, and their form for the core."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gapless import _core
from gapless.conf import Release, Settings, parse
from gapless.conf.settings import INTERVALS

if TYPE_CHECKING:
    from gapless._core import AllocatorSettings, Snapshot

_UNLIMITED = 2**64 - 1
_MOST_DIVISIONS = 2**31
_LONGEST_TEXT = 1 << 14
"""Nobody writes longer ones; a text made to take hours is none."""
_TEXT_KEY = "PYTORCH_CUDA_ALLOC_CONF"


def recorded_settings(snapshot: Snapshot, release: Release) -> tuple[str, Settings]:
    """The settings text and the values in force when the snapshot was written.

    The text tells what is not exported (segment size, rounding); the exported values win where both speak. A snapshot
    older than 2.3 has neither: the defaults.

    Args:
        snapshot: What was read.
        release: Whose reading of the text.
    """
    exported = _exported(snapshot)
    text = exported.get(_TEXT_KEY)
    text = text if isinstance(text, str) and len(text) <= _LONGEST_TEXT else ""
    text += "]" if text.rfind("[") > text.rfind("]") else ""  # releases read it so, and options can be added behind it
    settings = parse(text, release, at_load=True).settings
    return text, replace(settings, **_values(exported))


def contradicted(snapshot: Snapshot, release: Release, given: Settings) -> list[str]:
    """The names of settings that the snapshot says were otherwise than given; what it is silent about is none.

    Args:
        snapshot: What was read.
        release: Whose reading of its text.
        given: What somebody says was in force.
    """
    exported = _exported(snapshot)
    recorded = recorded_settings(snapshot, release)[1]
    told = vars(recorded) if isinstance(exported.get(_TEXT_KEY), str) else _values(exported)
    return [name for name in told if getattr(recorded, name) != getattr(given, name)]


def _exported(snapshot: Snapshot) -> dict[str, Any]:
    if not snapshot.settings_json:
        return {}
    values = json.loads(snapshot.settings_json)
    return values if isinstance(values, dict) else {}


def _values(exported: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    size = exported.get("max_split_size")
    if isinstance(size, int):
        values["max_split_size"] = None if size < 0 or size >= _UNLIMITED else size
    threshold = exported.get("garbage_collection_threshold")
    if isinstance(threshold, (int, float)) and 0 <= threshold < 1:
        values["garbage_collection_threshold"] = float(threshold)
    if isinstance(exported.get("expandable_segments"), bool):
        values["expandable_segments"] = exported["expandable_segments"]
    divisions = exported.get("roundup_power2_divisions")
    if isinstance(divisions, dict) and len(divisions) == INTERVALS:
        values["roundup_power2_divisions"] = tuple(
            value if isinstance(value, int) and 0 <= value < 2**31 else 0
            for _, value in sorted(divisions.items(), key=lambda item: int(item[0]) if item[0].isdecimal() else 0)
        )
    return values


def to_core(settings: Settings) -> AllocatorSettings:
    """The same settings as the core takes them."""
    core = _core.AllocatorSettings()
    core.max_split_size = _UNLIMITED if settings.max_split_size is None else settings.max_split_size
    core.max_non_split_rounding = settings.max_non_split_rounding
    core.large_segment_size = settings.large_segment_size
    # Beyond 2**31 a division changes nothing: no request is so large.
    core.roundup_power2_divisions = [min(division, _MOST_DIVISIONS) for division in settings.roundup_power2_divisions]
    core.garbage_collection_threshold = settings.garbage_collection_threshold
    core.per_process_memory_fraction = settings.per_process_memory_fraction
    core.expandable_segments = settings.expandable_segments
    core.throw_on_cudamalloc_oom = settings.throw_on_cudamalloc_oom
    return core
