"""Which variable PyTorch listens to, and which it does not."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Subject, finding
from gapless.conf.options import OPTIONS, Half
from gapless.conf.variables import CUDA_VARIABLE, HIP_VARIABLE, NEW_VARIABLE, Environment
from gapless.rule import Rule

IGNORED = Rule(
    "CONF618",
    "variable-ignored",
    "warning",
    "A variable with settings that PyTorch does not read.",
    "Up to 2.9 only PYTORCH_CUDA_ALLOC_CONF counts. From 2.10 the first that is set counts, even if it is empty, in the"
    " order PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF, PYTORCH_ALLOC_CONF (the documentation says the opposite)."
    " They are never joined.",
    "The environment variables are looked at (`gapless conf` without a text): which one the release takes, and"
    " which others are set. A recording does not hold them.",
    "Put everything into PYTORCH_CUDA_ALLOC_CONF, which every release reads, and unset the others.",
)
MIXED = Rule(
    "CONF619",
    "variables-mixed",
    "warning",
    "PYTORCH_HIP_ALLOC_CONF on a build for CUDA, release 2.10 or later.",
    "Two readers look for the text on their own, and only one of them knows this variable. Some options then come from"
    " it, the others from PYTORCH_ALLOC_CONF or from nowhere.",
    "The environment variables are looked at (`gapless conf` without a text): the variable from which each half of"
    " PyTorch takes its options. A recording does not hold them.",
    "Unset PYTORCH_HIP_ALLOC_CONF and use PYTORCH_CUDA_ALLOC_CONF.",
)
CACHING_OFF = Rule(
    "CONF620",
    "caching-off",
    "warning",
    "PYTORCH_NO_CUDA_MEMORY_CACHING.",
    "Every request goes to the driver and back. No setting has any effect, nothing is recorded, and the job is slow. Up"
    " to 2.6 any value switches it on, 0 and the empty one too; from 2.7 only 1.",
    "The environment variables are looked at (`gapless conf` without a text), the value as the release takes it. A"
    " recording does not hold them.",
    "Unset it unless you are looking for memory errors.",
)
NOT_SEEN = Rule(
    "CONF621",
    "not-seen-by-libraries",
    "warning",
    "expandable_segments:True in PYTORCH_ALLOC_CONF alone.",
    "vLLM, SGLang and others look into PYTORCH_CUDA_ALLOC_CONF to find out whether expandable segments are on, and take"
    " their precautions only then.",
    "The environment variables are looked at (`gapless conf` without a text): the text comes from"
    " PYTORCH_ALLOC_CONF and switches the option on. A recording does not hold them.",
    "Use PYTORCH_CUDA_ALLOC_CONF, or set both to the same text.",
    ("https://github.com/vllm-project/vllm/pull/54351", "https://github.com/huggingface/trl/pull/5794"),
)
RULES = (IGNORED, MIXED, CACHING_OFF, NOT_SEEN)


def look(subject: Subject) -> Iterator[Finding]:
    """Nothing when the text does not come from the environment."""
    environment = subject.environment
    if environment is None:
        return
    yield from _ignored(environment)
    yield from _mixed(environment)
    if environment.caching_off:
        message = f"{environment.caching_off} switches PyTorch's cache off: no setting has any effect"
        yield finding(CACHING_OFF, message, f"unset {environment.caching_off}")
    if environment.variable == NEW_VARIABLE and subject.in_effect.expandable_segments:
        message = f"expandable_segments is on, but libraries that look into {CUDA_VARIABLE} alone do not see it"
        yield finding(NOT_SEEN, message, f"set {CUDA_VARIABLE} instead")


def _ignored(environment: Environment) -> Iterator[Finding]:
    for name in environment.ignored:
        if environment.variable:
            empty = ", although that is empty" if not environment.text.strip() else ""
            reason = f"{environment.variable} is set and counts{empty}"
        else:
            reason = f"PyTorch {environment.release} does not know it"
        hint = f"put its options into {CUDA_VARIABLE} and unset {name}"
        yield finding(IGNORED, f"{name} is ignored: {reason}", hint, measurements={"variable": name})


def _mixed(environment: Environment) -> Iterator[Finding]:
    winners = dict(environment.winners)
    if winners.get(Half.ACCELERATOR) != HIP_VARIABLE:
        return
    other = winners.get(Half.CUDA)
    names = ", ".join(option.name for option in OPTIONS if option.half is Half.CUDA)
    source = f"are taken from {other}" if other else "are not read at all"
    message = f"on a build for CUDA, {HIP_VARIABLE} gives some options only; {names} {source}"
    yield finding(MIXED, message, f"unset {HIP_VARIABLE} and use {CUDA_VARIABLE}")
