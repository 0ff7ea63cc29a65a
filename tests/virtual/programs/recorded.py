"""Trains while it is recorded, and comes to one of several ends: python recorded.py END."""

import atexit
import os
import resource
import signal
import sys
import threading

import torch
from torch import nn

MIB = 1 << 20
# Before the recorder asks to be told of the end, so that this comes after it.
atexit.register(resource.setrlimit, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def step(rows: int = 256) -> None:
    """One step of training."""
    loss = model(torch.randn(rows, 512).cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train() -> None:
    """Five steps."""
    for _ in range(5):
        step()


def fails() -> None:
    """More rows than any card holds, in forward."""
    train()
    step(1 << 18)


def fails_backward() -> None:
    """A gradient that is too large."""
    train()
    free, _ = torch.cuda.mem_get_info()
    quarter = torch.empty(free // 16, device="cuda", requires_grad=True)
    second = quarter.mul(2)
    third = second.mul(3)
    third.sum().backward()


def fails_in_a_thread() -> None:
    """Nobody catches it there."""
    thread = threading.Thread(target=step, args=(1 << 18,))
    thread.start()
    thread.join()


def catches() -> None:
    """As programs do that look for their batch size; then it goes on."""
    for _ in range(6):
        try:
            step(1 << 18)
        except torch.cuda.OutOfMemoryError:
            optimizer.zero_grad()
    train()


def fills_the_disk() -> None:
    """As far as the recorder sees: from now on files end at 100 bytes."""
    step()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    train()
    step(1 << 18)


def leaves() -> None:
    """Without a word to anybody."""
    os._exit(3)


def signalled() -> None:
    """Asked from outside."""
    train()
    os.kill(os.getpid(), signal.SIGUSR1)
    leaves()


def terminated() -> None:
    """As by a launcher, of which another process failed."""
    train()
    os.kill(os.getpid(), signal.SIGTERM)


def full() -> None:
    """Takes most of the card for a while."""
    train()
    free, _ = torch.cuda.mem_get_info()
    large = torch.empty(free - 64 * MIB, dtype=torch.uint8, device="cuda")
    step()
    del large
    leaves()


def library() -> None:
    """A library beside PyTorch finds no memory, most of which PyTorch keeps unused."""
    train()
    free, _ = torch.cuda.mem_get_info()
    torch.empty(free - 64 * MIB, dtype=torch.uint8, device="cuda")
    raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")


def compiled() -> None:
    """Its optimizer's step is traced."""
    update = torch.compile(optimizer.step, backend="eager")
    for _ in range(5):
        model(torch.randn(256, 512).cuda()).sum().backward()
        update()


def records_itself() -> None:
    """Its own recording counts."""
    torch.cuda.memory._record_memory_history(max_entries=7)
    train()


globals()[sys.argv[1]]()
