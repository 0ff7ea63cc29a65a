"""What settings can break outside the allocator."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Subject, finding
from gapless.conf.releases import Release
from gapless.rule import Rule, Severity
from gapless.units import MIB

IPC = Rule(
    "CONF631",
    "expandable-breaks-ipc",
    "info",
    "expandable_segments:True where memory is handed to other processes.",
    "cudaIpcGetMemHandle refuses memory of expandable segments with 'invalid argument'. vLLM's custom all-reduce uses"
    " it for tensor parallelism with CUDA graphs and ends the worker; so did other libraries of that kind. PyTorch's"
    " own sharing of CUDA tensors between processes works from 2.5.",
    "Of the settings text: the option is on. Whether the program hands memory over is not measured: `--uses ipc` or"
    " `--uses custom-all-reduce` says so, and makes this an error.",
    "vLLM: --disable-custom-all-reduce, or leave expandable segments off. SGLang handles it since June 2026.",
    (
        "https://github.com/vllm-project/vllm/issues/42609",
        "https://github.com/ROCm/aiter/issues/4174",
        "https://github.com/sgl-project/sglang/pull/27593",
    ),
)
NCCL = Rule(
    "CONF632",
    "expandable-breaks-registration",
    "info",
    "expandable_segments:True where buffers are registered with NCCL or a network card.",
    "A buffer is registered as one piece of memory, and a tensor in an expandable segment lies on many pages, which may"
    " be given back and mapped anew. Registration fails, covers a part only, or falls back to the slow path. vLLM"
    " refuses to transfer KV caches while the option is on.",
    "Of the settings text: the option is on. Whether the program registers buffers is not measured: `--uses"
    " registration` says so, and makes this a warning.",
    "Take registered buffers from a torch.cuda.MemPool with NCCL's allocator (2.7 to 2.9 refuse such a pool while"
    " expandable segments are on).",
    (
        "https://github.com/NVIDIA/nccl/issues/1584",
        "https://github.com/NVIDIA/nccl/issues/1820",
        "https://github.com/pytorch/pytorch/issues/165419",
        "https://github.com/vllm-project/vllm/pull/54351",
    ),
)
SLEEP = Rule(
    "CONF633",
    "expandable-breaks-sleep",
    "info",
    "expandable_segments:True where vLLM's sleep mode or another pool with its own allocator is used.",
    "Up to 2.6 the pool's allocator is passed over and sleeping frees nothing; 2.7 to 2.9 raise an error; from 2.10 the"
    " pool uses its own allocator. vLLM since April 2026 switches the option off around its pool, by a call that also"
    " sets other options back (CONF641).",
    "Of the settings text: the option is on, in a release up to 2.9. Whether there is such a pool is not measured:"
    " `--uses sleep-mode` says so, and makes this an error;"
    " from 2.10 on it is said that both go together.",
    "Leave expandable segments off in such a process, or use PyTorch 2.10 and a vLLM of that time or later.",
    (
        "https://github.com/pytorch/pytorch/issues/147851",
        "https://github.com/vllm-project/vllm/pull/14189",
        "https://github.com/vllm-project/vllm/pull/40812",
    ),
)
ADVICE = Rule(
    "CONF634",
    "advice-already-followed",
    "info",
    "expandable_segments:True in a release whose out-of-memory message recommends it regardless.",
    "From 2.2 to 2.13 the message advises expandable_segments:True even when it is on. It then says nothing about the"
    " cause.",
    "Of the settings text: the option is on, in a release from 2.2 to 2.13.",
    "Ignore that sentence of the message.",
    ("https://github.com/pytorch/pytorch/issues/173049",),
)
PINNED_OVERFLOW = Rule(
    "CONF635",
    "pinned-buffer-overflow",
    "error",
    "pinned_max_round_threshold_mb below pinned_max_cached_size_mb, release 2.13.",
    "Pinned blocks over the threshold are kept for reuse with their own sizes, but are handed out again by power of"
    " two: a later request can get a block that is too small, and writes past its end.",
    "Of the settings text, read as 2.13 reads it: the two sizes are compared.",
    "Set pinned_max_cached_size_mb to the same value, or use 2.14.1.",
    ("https://github.com/pytorch/pytorch/pull/192722",),
)
RULES = (IPC, NCCL, SLEEP, ADVICE, PINNED_OVERFLOW)

USES = {
    "ipc": "memory shared with other processes (cudaIpcGetMemHandle)",
    "custom-all-reduce": "vLLM's custom all-reduce, or one like it",
    "registration": "buffers registered with NCCL, or with a network card as for KV transfer",
    "sleep-mode": "vLLM's sleep mode, or another MemPool with its own allocator",
}
_ADVISING = (Release(2, 2), Release(2, 13))
_POOL_REFUSED = (Release(2, 7), Release(2, 9))
_SHARING_SINCE = Release(2, 5)
_OVERFLOWING = Release(2, 13)


def look(subject: Subject) -> Iterator[Finding]:
    """The dangers of expandable segments, then those of pinned memory."""
    if subject.in_effect.expandable_segments:
        yield _ipc(subject)
        yield _registration(subject)
        yield from _sleep(subject)
        if _ADVISING[0] <= subject.parsed.release <= _ADVISING[1]:
            message = (
                f"{subject.parsed.release}'s out-of-memory message advises expandable_segments:True although it is on"
            )
            yield finding(ADVICE, message, "ignore that sentence", position=subject.position("expandable_segments"))
    yield from _pinned(subject)


def harmless(subject: Subject) -> list[str]:
    """Sentences on the uses that the program is known to have and the settings do not break."""
    if subject.parsed.problems:
        return []
    uses = [use for use in USES if use in subject.uses]
    if not subject.in_effect.expandable_segments:
        return [f"These settings do not concern {USES[use]}." for use in uses]
    goes = "sleep-mode" in uses and subject.parsed.release > _POOL_REFUSED[1]
    return ["From PyTorch 2.10 on, vLLM's sleep mode goes with expandable_segments:True."] if goes else []


def _danger(subject: Subject, rule: Rule, message: str, hint: str, severity: Severity) -> Finding:
    return finding(rule, message, hint, severity=severity, position=subject.position("expandable_segments"))


def _ipc(subject: Subject) -> Finding:
    known = subject.uses & {"ipc", "custom-all-reduce"}
    message = "memory of expandable segments cannot be shared by cudaIpcGetMemHandle, as vLLM's custom all-reduce does"
    if subject.parsed.release < _SHARING_SINCE:
        message += (
            f"; in {subject.parsed.release} PyTorch's own sharing of CUDA tensors between processes fails as well"
        )
    hint = "with vLLM, add --disable-custom-all-reduce"
    return _danger(subject, IPC, message, hint, "error" if known else "info")


def _registration(subject: Subject) -> Finding:
    message = (
        "buffers in expandable segments cannot be relied on to be registered as a whole, with NCCL or a network card"
    )
    hint = "take registered buffers from a torch.cuda.MemPool with NCCL's allocator"
    if _POOL_REFUSED[0] <= subject.parsed.release <= _POOL_REFUSED[1]:
        hint = (
            f"PyTorch {subject.parsed.release} refuses a MemPool with NCCL's allocator beside it: choose one of the two"
        )
    severity: Severity = "warning" if "registration" in subject.uses else "info"
    return _danger(subject, NCCL, message, hint, severity)


def _sleep(subject: Subject) -> Iterator[Finding]:
    release, known = subject.parsed.release, "sleep-mode" in subject.uses
    if release > _POOL_REFUSED[1]:
        return
    if release >= _POOL_REFUSED[0]:
        message = (
            f"PyTorch {release} raises an error when a MemPool with its own allocator, as in vLLM's sleep mode, is used"
        )
    else:
        message = "vLLM's sleep mode frees nothing while expandable segments are on"
    hint = "leave expandable segments off where vLLM sleeps"
    yield _danger(subject, SLEEP, message, hint, "error" if known else "info")


def _pinned(subject: Subject) -> Iterator[Finding]:
    rounded, cached = subject.settings.pinned_max_round_threshold, subject.settings.pinned_max_cached_size
    if subject.parsed.release != _OVERFLOWING or rounded is None or (cached is not None and cached <= rounded):
        return
    upper = f"up to {cached // MIB} MiB" if cached is not None else "of any size"
    yield finding(
        PINNED_OVERFLOW,
        f"pinned blocks over {rounded // MIB} MiB and {upper} are reused for requests that they are too small for:"
        " memory is overwritten",
        f"add pinned_max_cached_size_mb:{rounded // MIB}, or use PyTorch 2.14.1",
        position=subject.position("pinned_max_round_threshold"),
        measurements={"pinned_max_round_threshold_bytes": rounded},
    )
