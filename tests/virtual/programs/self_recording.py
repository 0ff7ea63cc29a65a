"""Records a part of itself, as scripts do that look for memory: python self_recording.py SNAPSHOT."""

import sys

import torch

before = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
torch.cuda.memory._record_memory_history(max_entries=1000)
x = torch.ones(1 << 20, device="cuda") * 2
torch.cuda.memory._dump_snapshot(sys.argv[1])
torch.cuda.memory._record_memory_history(enabled=None)
after = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
