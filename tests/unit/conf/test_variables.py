"""Which variable PyTorch listens to. The cases were run on the real libraries of 2.4, 2.9, 2.10, 2.11 and 2.13."""

from __future__ import annotations

import pytest

from gapless.conf import Release, read_environment
from gapless.conf.options import Half

CUDA, HIP, NEW = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
OFF, OFF_HIP = "PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING"


@pytest.mark.parametrize(
    ("names", "to_2_9", "from_2_10"),
    [
        ((CUDA,), (CUDA, CUDA), (CUDA, CUDA)),
        ((HIP,), ("", ""), (HIP, "")),
        ((NEW,), ("", ""), (NEW, NEW)),
        ((CUDA, NEW), (CUDA, CUDA), (CUDA, CUDA)),
        ((HIP, NEW), ("", ""), (HIP, NEW)),
        ((CUDA, HIP, NEW), (CUDA, CUDA), (CUDA, CUDA)),
        ((), ("", ""), ("", "")),
    ],
)
def test_winner_of_each_reader(names: tuple[str, ...], to_2_9: tuple[str, str], from_2_10: tuple[str, str]) -> None:
    for release, expected in ((Release(2, 9), to_2_9), (Release(2, 10), from_2_10)):
        winners = dict(read_environment(dict.fromkeys(names, "a:1"), release).winners)

        assert (winners.get(Half.ACCELERATOR, ""), winners.get(Half.CUDA, "")) == expected


def test_empty_variable_counts_as_set() -> None:
    environment = read_environment({CUDA: "", NEW: "max_split_size_mb:200"}, Release(2, 13))

    assert (environment.variable, environment.text) == (CUDA, "")
    assert environment.ignored == (NEW,)


@pytest.mark.parametrize(
    ("release", "environ", "name"),
    [
        (Release(2, 6), {OFF: "0"}, OFF),
        (Release(2, 6), {OFF: ""}, OFF),
        (Release(2, 7), {OFF: "0"}, ""),
        (Release(2, 7), {OFF: "true"}, ""),
        (Release(2, 7), {OFF: "1"}, OFF),
        (Release(2, 6), {OFF_HIP: "1"}, OFF_HIP),
        (Release(2, 5), {OFF_HIP: "1"}, ""),
        (Release(2, 14), {}, ""),
    ],
)
def test_caching_is_off(release: Release, environ: dict[str, str], name: str) -> None:
    assert read_environment(environ, release).caching_off == name
