"""Text that only quotes a message is no failure; text that reports one in quotation marks is."""

from __future__ import annotations

import io

import pytest

from gapless.sources.log import scan_log
from tests.unit.sources.log.messages import Truth

TEXT = Truth().text("1.13")
QUOTED = (
    f"# RuntimeError: {TEXT}",
    f"    // {TEXT}",
    f" -- {TEXT}",
    f'log.error("{TEXT}")',
    f'+    raise RuntimeError("{TEXT}")',
    f'    classic = "RuntimeError: {TEXT}"',
    f'    classic = (\n        "RuntimeError: {TEXT}"\n    )',
    f'    if "{TEXT[:60]}" in str(error):',
    f'add("cuda-oom", """\nwhat\n"""); print("{TEXT}")',
    f"If you see `RuntimeError: {TEXT}`, use a smaller batch",
    f"NOTICE: If pytorch throws this error: RuntimeError: {TEXT}",
    f"Errors like {TEXT} mean that the card is full",
    f'  File "/x/y.py", line 7, in main\n    check("{TEXT}")',
    f'  File "/x/y.py", line 7, in main\n    {TEXT} = 3',
)
REPORTED = (
    f"RuntimeError: {TEXT}",
    f'{{"level": "error", "message": "{TEXT}"}}',
    f"{{'error': 'RuntimeError: {TEXT}'}}",
    f"OutOfMemoryError('{TEXT}')",
    f'level=error msg="{TEXT}"',
    f"E       RuntimeError: {TEXT}",
    f"{TEXT}",
    f"> RuntimeError: {TEXT}",
    f"ray.exceptions.RayTaskError(OutOfMemoryError): {TEXT}",
    f"failed with error: {TEXT}",
    f"with error: {TEXT}",
    f"error = {TEXT}",
    f'    "message": "RuntimeError: {TEXT}",',
    f'message: "{TEXT}"',
    f"('{TEXT}',)",
    f"* {TEXT}",
    f"- **Exception Message:** {TEXT}",
    f'  File "<stdin>", line 1, in <module>\ntorch.OutOfMemoryError: {TEXT}',
    f'[rank1]:   File "/x/y.py", line 7, in main\n[rank1]: RuntimeError: {TEXT}',
    f'  |   File "y.pyc", line 7, in main\n  | torch.cuda.OutOfMemoryError: worker 3: {TEXT}',
)
WHOLE = Truth().text("2.14")
WHOLE_IN_MARKS = (
    f"2026-01-01 ERROR 'torch.OutOfMemoryError: {WHOLE}'",
    f'"torch.OutOfMemoryError: {WHOLE}"',
    f"b'torch.OutOfMemoryError: {WHOLE}'",
    f"- `{WHOLE}`",
)
WHOLE_IN_A_PROGRAM = (
    f"# '{WHOLE}'",
    f'log.error("{WHOLE}")',
    f'message = "torch.OutOfMemoryError: {WHOLE}"',
)
NOT_A_MESSAGE = (
    'f"CUDA out of memory. Tried to allocate {size} (GPU {device}; {total} total capacity"',
    '"CUDA out of memory. Tried to allocate ", format_size(alloc_size), ". GPU ", device, " has a total capacity of "',
    "CUDA out of memory. Tried to allocate xxx MiB (GPU 0; xxx GiB total capacity; xxx GiB already allocated)",
    "CUDA out of memory. Tried to allocate X.XX GiB (GPU 0; X.XX GiB total capacity; X.XX MiB already allocated",
    "Tried to allocate 20.00 MiB on the host",
    "MPS backend out of memory (MPS allocated: 8.89 GiB, max: 9.07 GiB). Tried to allocate 6 bytes on private pool.",
    "XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 15.11 GiB.",
    "NPU out of memory. Tried to allocate 22.00 MiB (NPU 0; 60.97 GiB total capacity; 10.24 GiB already allocated",
)


@pytest.mark.parametrize("text", [*QUOTED, *WHOLE_IN_A_PROGRAM])
def test_quoted_messages_are_marked(text: str) -> None:
    (message,) = scan_log(io.BytesIO(f"start\n{text}\n".encode())).messages

    assert message.is_quoted


@pytest.mark.parametrize("text", [*REPORTED, *WHOLE_IN_MARKS])
def test_reported_messages_are_not(text: str) -> None:
    (message,) = scan_log(io.BytesIO(f"start\n{text}\n".encode())).messages

    assert not message.is_quoted


@pytest.mark.parametrize("text", NOT_A_MESSAGE)
def test_templates_and_other_devices_are_no_message(text: str) -> None:
    assert [message for message in scan_log(io.BytesIO(text.encode())).messages if message.wording != "bare"] == []
