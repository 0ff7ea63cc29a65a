"""Small jobs of every kind that are run on a real card and on the pretend one; each takes under a second there.

python -m tests.virtual.gpu.jobs                   their names
python -m tests.virtual.gpu.jobs NAME FILE         run one, and write its recording
python -m tests.virtual.gpu.jobs all FOLDER        run all in one process, one recording each
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

STEPS = 3
WIDTH, HEADS, LENGTH, VOCABULARY = 512, 8, 256, 8192
JOBS: dict[str, Callable[[], None]] = {}
CONF = {"expandable_segments": "expandable_segments:True", "split_limit": "max_split_size_mb:32"}
"""Settings of PyTorch's allocator under which a job runs, by its name."""


def job(function: Callable[[], None]) -> Callable[[], None]:
    """Give a job its name."""
    JOBS[function.__name__] = function
    return function


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention and a perceptron, each with its residual."""
        batch, length, _ = x.shape
        parts = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        down: torch.Tensor = self.down(nn.functional.gelu(self.up(self.second_norm(x))))
        return x + down


class Transformer(nn.Module):
    """A small language model."""

    def __init__(self, *, is_checkpointed: bool = False) -> None:
        super().__init__()
        self.tokens, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.blocks = nn.ModuleList(Block() for _ in range(4))
        self.is_checkpointed = is_checkpointed

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = self.tokens(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.is_checkpointed else block(x)
        logits: torch.Tensor = self.head(x)
        return logits


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loss_of: Callable[[], torch.Tensor]) -> None:
    """A few steps."""
    for _ in range(STEPS):
        loss_of().backward()
        optimizer.step()
        optimizer.zero_grad()


def perceptron() -> nn.Module:
    """Three layers."""
    return nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)).cuda()


def train_perceptron(optimizer: Callable[..., torch.optim.Optimizer]) -> None:
    """Classify noise."""
    model = perceptron()
    labels = torch.randint(0, 10, (256,), device="cuda")
    train(
        model,
        optimizer(model.parameters(), lr=1e-3),
        lambda: cross_entropy(model(torch.randn(256, 1024, device="cuda")), labels),
    )


def language_loss(model: nn.Module) -> torch.Tensor:
    """Of random tokens."""
    tokens = torch.randint(0, VOCABULARY, (4, LENGTH + 1), device="cuda")
    return cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def train_transformer(*, is_checkpointed: bool = False, dtype: torch.dtype | None = None) -> None:
    """The language model, maybe in a lower precision."""
    model = Transformer(is_checkpointed=is_checkpointed).cuda()
    scaler = torch.amp.GradScaler("cuda", enabled=dtype is torch.float16)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        with torch.autocast("cuda", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = language_loss(model)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


@job
def perceptron_sgd() -> None:
    """Momentum."""
    train_perceptron(functools.partial(torch.optim.SGD, momentum=0.9))


@job
def perceptron_adamw_loop() -> None:
    """One parameter after the other."""
    train_perceptron(functools.partial(torch.optim.AdamW, foreach=False))


@job
def perceptron_adamw_foreach() -> None:
    """All parameters at once: the default."""
    train_perceptron(torch.optim.AdamW)


@job
def perceptron_adamw_fused() -> None:
    """One kernel."""
    train_perceptron(functools.partial(torch.optim.AdamW, fused=True))


@job
def convolutions() -> None:
    """As in a residual network."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    for inside, outside in ((64, 128), (128, 256)):
        layers += [nn.Conv2d(inside, outside, 3, 2, 1), nn.BatchNorm2d(outside), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)).cuda()
    labels = torch.randint(0, 100, (32,), device="cuda")
    train(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        lambda: cross_entropy(model(torch.randn(32, 3, 112, 112, device="cuda")), labels),
    )


@job
def channels_last() -> None:
    """The other memory format, in half precision."""
    layers = (nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = nn.Sequential(*layers, nn.Linear(64, 10))
    model = model.to(memory_format=torch.channels_last).cuda()  # type: ignore[call-overload]
    images = torch.randn(16, 3, 64, 64, device="cuda").to(memory_format=torch.channels_last)
    with torch.autocast("cuda"):
        train(model, torch.optim.AdamW(model.parameters()), lambda: model(images).float().square().mean())


@job
def vision_transformer() -> None:
    """Patches, and the layers of a transformer."""
    cut = nn.Conv2d(3, WIDTH, 16, 16)
    model = nn.Sequential(cut, nn.Flatten(2), Transposed(), *(Block() for _ in range(3))).cuda()
    images = torch.randn(8, 3, 224, 224, device="cuda")
    train(model, torch.optim.AdamW(model.parameters()), lambda: model(images).square().mean())


class Transposed(nn.Module):
    """Swaps channels and positions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same numbers."""
        return x.transpose(1, 2)


@job
def attention_math() -> None:
    """The kernel that keeps scores."""
    with sdpa_kernel(SDPBackend.MATH):
        train_transformer()


@job
def attention_efficient() -> None:
    """The memory-efficient kernel."""
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        train_transformer()


@job
def attention_flash() -> None:
    """The flash kernel."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        train_transformer(dtype=torch.bfloat16)


@job
def checkpointing() -> None:
    """Activations are computed twice."""
    train_transformer(is_checkpointed=True)


@job
def autocast_bf16() -> None:
    """Weights are cast for each step."""
    train_transformer(dtype=torch.bfloat16)


@job
def autocast_fp16() -> None:
    """The same with a loss scale."""
    train_transformer(dtype=torch.float16)


@job
def expandable_segments() -> None:
    """Memory in pages."""
    train_transformer()


@job
def split_limit() -> None:
    """Large blocks stay whole."""
    train_transformer()


@job
def recurrent() -> None:
    """A network of cuDNN's."""
    model = nn.LSTM(256, 512, num_layers=2, batch_first=True).cuda()
    x = torch.randn(16, 64, 256, device="cuda")
    train(model, torch.optim.AdamW(model.parameters()), lambda: model(x)[0].square().mean())


@job
def growing_cache() -> None:
    """Keys and values, concatenated with every token."""
    model = Transformer().cuda().eval()
    kept = torch.empty(4, HEADS, 0, WIDTH // HEADS, device="cuda")
    with torch.no_grad():
        for _ in range(64):
            model(torch.randint(0, VOCABULARY, (4, 1), device="cuda")).argmax(-1)
            kept = torch.cat([kept, torch.randn(4, HEADS, 1, WIDTH // HEADS, device="cuda")], dim=2)


@job
def varying_lengths() -> None:
    """No two batches are alike."""
    model = Transformer().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for length in (100, 37, 220, 64, 190, 12):
        tokens = torch.randint(0, VOCABULARY, (8, length), device="cuda")
        model(tokens).float().logsumexp(-1).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@job
def side_stream() -> None:
    """Batches that are copied on a stream of their own."""
    copying, model = torch.cuda.Stream(), perceptron()
    for _ in range(6):
        with torch.cuda.stream(copying):
            batch = torch.randn(512, 1024).pin_memory().cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(copying)
        batch.record_stream(torch.cuda.current_stream())
        model(batch).sum().backward()
        del batch


@job
def graph() -> None:
    """A captured step, replayed."""
    model, x = perceptron(), torch.randn(256, 1024, device="cuda")
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside), torch.no_grad():
        model(x)
    torch.cuda.current_stream().wait_stream(aside)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured), torch.no_grad():
        model(x)
    for _ in range(3):
        captured.replay()


@job
def sorting_and_indexing() -> None:
    """Kernels that take scratch memory."""
    x = torch.randn(512, 4096, device="cuda", requires_grad=True)
    top = x.topk(100, dim=1).values.sum() + x.sort(dim=1).values[:, :10].sum() + x.cumsum(1).mean()
    rows = torch.randint(0, 512, (2000,), device="cuda")
    (top + x[rows].square().mean() + x.index_select(0, rows).std()).backward()
    torch.zeros(512, 4096, device="cuda").index_put_((rows,), torch.ones(2000, 4096, device="cuda"), accumulate=True)
    torch.randperm(1_000_000, device="cuda")


@job
def accumulation() -> None:
    """Gradients of several batches."""
    model = perceptron()
    optimizer = torch.optim.AdamW(model.parameters())
    for number in range(8):
        model(torch.randn(128, 1024, device="cuda")).square().mean().backward()
        if number % 4 == 3:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=number == 3)


def record(function: Callable[[], None], path: Path) -> None:
    """Run a job from an empty allocator on, and write what it did."""
    memory: Any = torch.cuda.memory
    torch.cuda.empty_cache()
    torch.manual_seed(0)
    memory._record_memory_history(None)
    memory._record_memory_history("all", stacks="python", max_entries=1_000_000)
    function()
    memory._dump_snapshot(str(path))
    memory._record_memory_history(None)


def main(words: list[str]) -> int:
    """Run what the command line names."""
    if len(words) != 2:
        print("\n".join(JOBS))
        return 0
    name, target = words[0], Path(words[1])
    if name != "all":
        record(JOBS[name], target)
        return 0
    for each, function in JOBS.items():
        if each not in CONF:  # settings are read once a process
            record(function, target / f"{each}.pickle")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
