"""The pretend card itself, called as PyTorch calls CUDA: what it gives and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

from gapless.virtual.installation import libraries_folder

FOLDER = libraries_folder()
pytestmark = pytest.mark.skipif(
    not (FOLDER / "libgapless_card.so").exists(), reason="this build is without the pretend card"
)
HEAD = f"""
import ctypes, os
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p
from gapless.virtual import control
names = ("libgapless_card.so", "libcuda.so.1", "libcudart.so.13")
card = control.load(tuple({str(FOLDER)!r} + "/" + name for name in names))
cuda, driver = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcuda.so.1")
MIB = 1 << 20
def malloc(size):
    p = c_void_p()
    return cuda.cudaMalloc(byref(p), c_size_t(size)), p
def free_bytes():
    f, t = c_size_t(), c_size_t()
    cuda.cudaMemGetInfo(byref(f), byref(t))
    return f.value
"""


def on_card(code: str, settings: str = "capacity=67108864") -> list[str]:
    """Run code in a process of its own, where the card is loaded once."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={"GAPLESS_CARD": settings, "PATH": "/usr/bin:/bin"},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_memory_is_given_by_the_granule_until_the_card_is_full() -> None:
    code = """
        print(malloc(1)[0], free_bytes() // MIB, malloc(62 * MIB)[0], free_bytes(), malloc(1)[0])
        print(card.counters().refusals, card.counters().used_peak // MIB)
    """
    assert on_card(code) == ["0", "62", "0", "0", "2", "1", "64"]


def test_what_is_freed_can_be_had_again_at_the_same_place() -> None:
    code = """
        first = malloc(8 * MIB)[1]; second = malloc(8 * MIB)[1]
        print(cuda.cudaFree(first), cuda.cudaFree(first), malloc(8 * MIB)[1].value == first.value, free_bytes() // MIB)
    """
    assert on_card(code) == ["0", "1", "True", "48"]


def test_the_context_is_charged() -> None:
    assert on_card("print(free_bytes() // MIB, malloc(60 * MIB)[0])", "capacity=67108864;context=8388608") == [
        "56",
        "2",
    ]


@pytest.mark.parametrize(("model", "steps"), [("ascending", ["32", "32"]), ("descending", ["-32", "-32"])])
def test_addresses_follow_the_model(model: str, steps: list[str]) -> None:
    code = "a, b, c = (malloc(32 * MIB)[1].value for _ in range(3)); print((b - a) // MIB, (c - b) // MIB)"
    assert on_card(code, f"capacity=1073741824;addresses={model}") == steps


def test_virtual_memory_is_addresses_and_pages_apart() -> None:
    code = """
        class Properties(ctypes.Structure):
            _fields_ = [*((name, c_int) for name in ("type", "handles", "where", "device")), ("rest", c_uint64 * 2)]
        address, handle = c_void_p(), c_uint64()
        print(driver.cuMemAddressReserve(byref(address), c_size_t(1 << 40), c_size_t(0), None, c_uint64(0)))
        print(free_bytes() // MIB)
        asked = Properties(1, 0, 1, 0)
        print(driver.cuMemCreate(byref(handle), c_size_t(20 * MIB), byref(asked), c_uint64(0)), free_bytes() // MIB)
        print(driver.cuMemCreate(byref(c_uint64()), c_size_t(3), byref(asked), c_uint64(0)))
        print(driver.cuMemCreate(byref(c_uint64()), c_size_t(64 * MIB), byref(asked), c_uint64(0)))
        print(driver.cuMemMap(address, c_size_t(20 * MIB), c_size_t(0), handle, c_uint64(0)))
        print(driver.cuMemMap(address, c_size_t(20 * MIB), c_size_t(0), handle, c_uint64(0)))
        print(driver.cuMemRelease(handle), free_bytes() // MIB)
        print(driver.cuMemUnmap(address, c_size_t(20 * MIB)), free_bytes() // MIB)
    """
    assert on_card(code) == ["0", "64", "0", "44", "1", "2", "0", "1", "0", "44", "0", "64"]


def test_memory_cannot_be_shared_between_processes() -> None:
    code = "print(cuda.cudaIpcGetMemHandle(ctypes.create_string_buffer(64), malloc(MIB)[1]))"
    assert on_card(code) == ["801"]


def test_events_are_held_back_until_somebody_waits() -> None:
    code = """
        event = c_void_p(); cuda.cudaEventCreate(byref(event))
        card.hold_events()
        cuda.cudaEventRecord(event, None)
        print(cuda.cudaEventQuery(event), cuda.cudaDeviceSynchronize(), cuda.cudaEventQuery(event))
        card.lag_events(2)
        cuda.cudaEventRecord(event, None)
        where = malloc(MIB)[1]
        for _ in range(2):
            print(cuda.cudaEventQuery(event))
            cuda.cudaMemset(where, 0, c_size_t(16))
        print(cuda.cudaEventQuery(event))
    """
    assert on_card(code) == ["600", "0", "0", "600", "600", "0"]


def test_small_copies_are_true_and_large_ones_are_zeros() -> None:
    code = """
        where = malloc(2 * MIB)[1]
        back = ctypes.create_string_buffer(4)
        cuda.cudaMemcpy(where, b"abc", c_size_t(3), 1)
        cuda.cudaMemcpy(back, where, c_size_t(3), 2)
        print(back.value.decode(), card.is_known(where.value, 3), card.is_known(where.value, 4))
        cuda.cudaMemcpy(where, bytes([1]) * MIB, c_size_t(MIB), 1)
        cuda.cudaMemcpy(back, where, c_size_t(3), 2)
        print(list(back.raw[:3]), card.is_known(where.value, 3))
    """
    assert " ".join(on_card(code)) == "abc 1 0 [0, 0, 0] 0"


def test_an_allocation_can_be_refused_on_demand() -> None:
    assert on_card("card.refuse_allocation(2); print(*(malloc(MIB)[0] for _ in range(3)))") == ["0", "2", "0"]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [("capacity=many", "a whole number is needed"), ("colour=red", "no such key"), ("addresses=up", "no such value")],
)
def test_settings_that_mean_nothing_are_refused(settings: str, complaint: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAD], capture_output=True, text=True, check=False, env={"GAPLESS_CARD": settings}
    )
    assert done.returncode == 2
    assert done.stderr == f"gapless: GAPLESS_CARD holds {settings}: {complaint}\n"


def test_a_library_takes_its_share_for_each_handle_and_gives_it_back() -> None:
    code = f"""
        blas = ctypes.CDLL({str(FOLDER)!r} + "/libcublas.so.13")
        handles = [c_void_p() for _ in range(3)]
        print(*(blas.cublasCreate_v2(byref(handle)) for handle in handles), free_bytes() // MIB)
        print(blas.cublasDestroy_v2(handles[0]), free_bytes() // MIB)
        print(*card.charges()["cublas"], *card.charges()["nccl"])
    """
    settings = f"capacity={64 << 20};charge_cublas={24 << 20}"
    assert on_card(code, settings) == ["0", "0", "3", "16", "0", "40", "2", str(48 << 20), "0", "0"]
