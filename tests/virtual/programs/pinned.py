"""Keeps a part of the place of each of ten large tensors: what is left of their segments serves nothing."""

import torch

MIB = 1 << 20
kept = []
for i in range(10):
    large = torch.empty((40 + 2 * i) * MIB, dtype=torch.uint8, device="cuda")
    del large
    kept.append(torch.empty(30 * MIB, dtype=torch.uint8, device="cuda"))
last = torch.empty(120 * MIB, dtype=torch.uint8, device="cuda")
