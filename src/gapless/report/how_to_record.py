"""The lines that record what Gapless reads, for PyTorch 2.1 and later."""

from __future__ import annotations

LINES_AT_FAILURE = (
    "import os, torch",
    "",
    'torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")',
    "",
    "def dump(device, alloc, device_alloc, device_free):",
    "    rank = os.environ.get('RANK', '0')",
    '    torch.cuda.memory._dump_snapshot(f"oom_rank{rank}.pickle")',
    "",
    "torch._C._cuda_attach_out_of_memory_observer(dump)",
)
"""Written at the failing request, before the exception unwinds and frees what was in use."""
LINES_BY_HAND = (
    'torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")',
    "...  # some steps",
    'torch.cuda.memory._dump_snapshot("snapshot.pickle")',
)
