"""Trains a small model with a batch of so many: python batches.py BATCH [fail]."""

import sys

import torch
from torch import nn

batch = int(sys.argv[1])
if sys.argv[2:] == ["fail"]:
    raise ValueError("this has nothing to do with memory")
model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(batch, 256, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
