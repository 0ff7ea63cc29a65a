"""Trains one of a few small models for three steps: python training.py mlp|conv|transformer [attention]."""

import sys

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy, scaled_dot_product_attention


def mlp() -> None:
    """AdamW, labels, clipping."""
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        loss = cross_entropy(model(torch.randn(512, 512).cuda()), torch.randint(0, 10, (512,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def conv() -> None:
    """Convolutions and batch norm in half precision, with a scaler."""
    model = nn.Sequential(
        *[nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)],
        *[nn.Conv2d(64, 128, 3, 2, 1), nn.BatchNorm2d(128), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()],
        nn.Linear(128, 1000),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = cross_entropy(model(torch.randn(32, 3, 112, 112).cuda()), torch.randint(0, 1000, (32,)).cuda())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention, then the perceptron."""
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, 8, width // 8).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(attended)
        return x + self.mlp(self.second(x))


def transformer(attention: str = "FLASH_ATTENTION") -> None:
    """Token ids, positions, autocast; the attention kernel by the name that PyTorch gives it."""
    width, words, length = 256, 8000, 512
    embedding, positions = nn.Embedding(words, width).cuda(), nn.Embedding(length, width).cuda()
    blocks, head = nn.Sequential(*[Block(width) for _ in range(3)]).cuda(), nn.Linear(width, words, bias=False).cuda()
    parameters = [p for module in (embedding, positions, blocks, head) for p in module.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=3e-4)
    for _ in range(3):
        ids = torch.randint(0, words, (4, length + 1)).cuda()
        with sdpa_kernel(getattr(SDPBackend, attention)), torch.autocast("cuda", dtype=torch.bfloat16):
            hidden = embedding(ids[:, :-1]) + positions(torch.arange(length, device="cuda"))
            logits = head(blocks(hidden))
            loss = cross_entropy(logits.reshape(-1, words).float(), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


globals()[sys.argv[1]](*sys.argv[2:])
