"""Puts a pretend card under this very process."""

import gapless.virtual
from gapless.errors import InputError
from gapless.explain import explain

card = gapless.virtual.card("4GiB", conf="max_split_size_mb:64")
assert gapless.virtual.card("4GiB", conf="max_split_size_mb:64") is card

import torch  # noqa: E402

kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
print("peaks", card.allocated_bytes_peak(), card.reserved_bytes_peak())
torch.cuda.empty_cache()
card.reset_peaks()
print("later", card.reserved_bytes_peak())
try:
    torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    recording = card.recording()
    print("verdict", explain(recording).verdict.code, recording.settings.max_split_size)
try:
    card.recording(1)
except InputError as error:
    print(error)
try:
    gapless.virtual.card("8GiB")
except InputError as error:
    print(error)
