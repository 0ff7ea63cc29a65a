"""Which releases of PyTorch can have written a snapshot: its dictionary keys tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.conf import NEWEST, RELEASES, Release

if TYPE_CHECKING:
    from collections.abc import Collection

# Key, the first release that writes it, and what the file must hold for its absence to mean an older release.
_MARKS = (
    ("segment.segment_pool_id", Release(2, 1), "segment"),
    ("event.time_us", Release(2, 2), "event"),
    ("top.allocator_settings", Release(2, 3), "top"),
    ("top.external_annotations", Release(2, 5), "top"),
    ("event.compile_context", Release(2, 8), "event"),
    ("settings.graph_capture_record_stream_reuse", Release(2, 9), "settings"),
    ("event.user_metadata", Release(2, 10), "event"),
    ("event.pool_id", Release(2, 12), "event"),
    ("settings.max_cached_size", Release(2, 13), "settings"),
    ("top.host_traces", Release(2, 14), "top"),
)


def candidates(keys: Collection[str]) -> tuple[Release, ...]:
    """Releases that the keys allow, oldest first; never empty.

    Args:
        keys: As in ``Snapshot.keys``, for example ``event.time_us``.

    >>> [str(release) for release in candidates({"segment.segment_pool_id", "event.time_us", "event.action"})]
    ['2.2', '2.3', '2.4', '2.5', '2.6', '2.7']
    """
    known = set(keys)
    kinds = {key.partition(".")[0] for key in known}
    newest = NEWEST
    oldest = max([RELEASES[0], *(since for key, since, _ in _MARKS if key in known)])
    for key, since, needs in _MARKS:
        if key not in known and needs in kinds and since > oldest:
            newest = min(newest, _before(since))
    found = tuple(release for release in RELEASES if oldest <= release <= newest)
    return found or (oldest,)


def _before(release: Release) -> Release:
    return RELEASES[RELEASES.index(release) - 1]
