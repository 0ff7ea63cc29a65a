"""Train a small language model until "CUDA out of memory": 4.4 GiB are asked, 9.1 GiB are free in PyTorch's cache.

Plain PyTorch, with the two lines that record what the allocator does. The evaluation keeps its best guesses and forgets
to move them off the GPU: tens of megabytes each, but each keeps a segment of gigabytes from being given back.

    python demo_train.py                                                     fails, writes demo_out_of_memory.pickle
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python demo_train.py    reaches the last step

demo_out_of_memory.pickle.gz beside this file came from this script and the real PyTorch 2.14.1 on a virtual card of
24 GiB, without a GPU. In a checkout: python -m tests.fixtures.record --virtual-gpu FOLDER demo (it shortens the paths).
"""

from __future__ import annotations

import random

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS = 32_000, 2048, 16, 6
BATCH, EVALUATION_BATCH, LONGEST = 18, 40, 1024
STEPS, EVALUATE_EVERY, EVALUATION_BATCHES, GUESSES = 24, 2, 16, 128
SNAPSHOT = "demo_out_of_memory.pickle"


class Block(nn.Module):
    """One layer of the model: attention, then a feed-forward part."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_in, self.norm_out = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.merge = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape as x."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm_in(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.merge(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.norm_out(x))))


def build_model() -> nn.Sequential:
    """436 million parameters, on the GPU."""
    with torch.device("cuda"):
        layers = [Block() for _ in range(LAYERS)]
        return nn.Sequential(
            nn.Embedding(VOCABULARY, WIDTH), *layers, nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)
        )


def random_text(size: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens and the tokens that follow them."""
    tokens = torch.randint(VOCABULARY, (size, length + 1), device="cuda")
    return tokens[:, :-1], tokens[:, 1:]


def train(model: nn.Module, optimizer: torch.optim.Optimizer, length: int) -> None:
    """One step."""
    tokens, targets = random_text(BATCH, length)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def evaluate(model: nn.Module, lengths: list[int]) -> list[torch.Tensor]:
    """The best guesses for every token of the held-out texts. The mistake is here: `.cpu()` is missing."""
    guesses, loss = [], 0.0
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        for length in lengths:
            tokens, targets = random_text(EVALUATION_BATCH, length)
            logits = model(tokens)
            loss += nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
            guesses.append(logits.topk(GUESSES).indices)
    print(f"loss on held-out texts: {loss / len(lengths):.3f}")
    return guesses


def record_memory() -> None:
    """Write a snapshot at the moment a request fails."""
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(stacks="python")
    torch._C._cuda_attach_out_of_memory_observer(lambda *_: torch.cuda.memory._dump_snapshot(SNAPSHOT))


def main() -> None:
    """Evaluate, then train and evaluate again every few steps."""
    record_memory()
    draw = random.Random(8)
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    held_out = sorted(draw.randrange(LONGEST // 4, LONGEST + 1) for _ in range(EVALUATION_BATCHES))
    report = {"before": evaluate(model, held_out)}
    for step in range(1, STEPS + 1):
        train(model, optimizer, draw.randrange(LONGEST // 4, LONGEST + 1))
        if step % EVALUATE_EVERY == 0:
            report["now"] = evaluate(model, held_out)
        print(f"step {step} of {STEPS}", flush=True)


if __name__ == "__main__":
    main()
