"""How each release of PyTorch words its out-of-memory message: tables of patterns over squeezed text, and no logic.

The wordings, each a sequence of pieces of which many are optional (the text is often cut):

    parenthesis  Tried to allocate A (GPU 0; A total capacity; A already allocated; A free; A reserved in total by ...
    sentences    Tried to allocate A. GPU 0 has a total capacity of A of which A is free. Process 7 has A memory in ...
    preemptive   Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. ...
    too_large    Tried to allocate more than 1EB memory.
    async        Allocation on device 0 would exceed allowed memory. (out of memory) Currently allocated : A ...
"""

from __future__ import annotations

import re

from gapless.sources.log.amount import AMOUNT_PATTERN

_AMOUNT = re.sub(r"\((?!\?)", "(?:", AMOUNT_PATTERN)
RELEASES = tuple(f"1.{minor}" for minor in range(14)) + tuple(f"2.{minor}" for minor in range(15))
# Where a message begins, and what names the device before it; others than CUDA and HIP are other families.
START = re.compile(
    rf"Triedtoallocate(?:(?P<request>{_AMOUNT})(?!on[a-z]{{1,10}}pool)|(?P<too_large>morethan1EBmemory\.?))"
    r"|Allocation(?:(?P<preemptive>waspreemptivelyrejectedbecauseitwouldexceedper_process_memory_fractionlimit\.?)"
    r"|ondevice(?P<device>\d{1,4})wouldexceedallowedmemory\.\(outofmemory\))"
)
BACKEND = re.compile(r"(?P<name>CUDA|HIP|[A-Za-z])outofmemory[.!]$")
PARENTHESIS_OPEN = re.compile(r"\(GPU(?P<device>\d{1,4});")
PARENTHESIS_PIECE = re.compile(
    rf"(?P<amount>{_AMOUNT})(?P<word>totalcapacity|alreadyallocated|free|allowed|reservedintotalbyPyTorch|cached)"
    r"(?P<end>[;)]?)"
)
PARENTHESIS_FIELDS = {
    "totalcapacity": "capacity",
    "alreadyallocated": "allocated",
    "free": "free",
    "allowed": "allowed",
    "reservedintotalbyPyTorch": "reserved",
    "cached": "unallocated",  # up to 1.2: the cached part that nobody uses
}
# The sentences, in their order. 2.3 prints the device as one raw byte, which a C string ends at for device 0.
SENTENCES = tuple(
    re.compile(rf"(?:\.{{3}}|\u2026)?{pattern}")  # an ellipsis is where a writer left something out
    for pattern in (
        rf"\.?GPU(?P<device>\d{{1,4}}|[\x00-\x08]?)hasatotal(?P<spelling>capacity|capacty)of(?P<capacity>{_AMOUNT})"
        rf"(?:ofwhich(?P<free>{_AMOUNT})isfree)?\.?",
        rf"Includingnon-PyTorchmemory,thisprocesshas(?P<this_process>{_AMOUNT})memoryinuse\.",
        rf"Process(?P<pid>\d{{1,10}})has(?P<process>{_AMOUNT})memoryinuse\.",
        rf"(?P<allowed>{_AMOUNT})allowed;",
        rf"(?:Oftheallocatedmemory)?(?P<allocated>{_AMOUNT})isallocatedbyPyTorch,?",
        rf"with(?P<private_pools>{_AMOUNT})allocatedinprivatepools\(e\.g\.,CUDAGraphs\),?",
        rf"and(?P<unallocated>{_AMOUNT})isreservedbyPyTorchbutunallocated\.?",
    )
)
PROCESSES_MAX = 256
SENTENCES_CUT_AT_NUL = re.compile(r"\.GPU\x00?(?![0-9\x00-\x08]?has)")
HINT = re.compile(
    r"Ifreserved(?:butunallocated)?memoryis(?:large|(?:>|&gt;){2}allocatedmemory)"
    r"(?:trysetting(?P<what>max_split_size_mb|(?P<variable>PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF)=expandable_segments:True)"
    r"(?:toavoidfragmentation\.?(?:SeedocumentationforMemoryManagement(?:andPYTORCH_\w{0,5}ALLOC_CONF)?"
    r"(?:\(https://(?P<site>docs\.)?pytorch\.org[^\s()]{0,160}\)?)?)?)?)?"
)
ASYNC_PIECE = re.compile(
    rf"(?P<word>Currentlyallocated|Requested|Devicelimit|Free\(accordingtoCUDA\)|PyTorchlimit\(setbyuser-supplied"
    rf"memoryfraction\)):(?P<amount>{_AMOUNT})"
)
ASYNC_FIELDS = {
    "Currentlyallocated": "allocated",
    "Requested": "request",
    "Devicelimit": "capacity",
    "Free(accordingtoCUDA)": "free",
    "PyTorchlimit(setbyuser-suppliedmemoryfraction)": "allowed",
}
PREEMPTIVE_SIZE = re.compile(rf"Requestedsize:(?P<request>{_AMOUNT}|\d{{1,20}})")

# What a wording says of the release: fact -> first and last release that print it so. That the hint is missing says
# nothing: releases up to 1.9 have none and 2.14 leaves it out with expandable segments, but people cut it off as well.
EVIDENCE = {
    "cached": ("1.0", "1.2"),
    "reserved in total": ("1.3", "2.0"),
    "hint after parenthesis": ("1.10", "2.0"),
    "sentences": ("2.1", "2.14"),
    "capacty": ("2.1", "2.1"),
    "capacity": ("2.2", "2.14"),
    "raw device": ("2.3", "2.3"),
    "private pools": ("2.4", "2.14"),
    "hint max_split_size_mb": ("1.10", "2.1"),
    "hint expandable_segments": ("2.2", "2.14"),
    "hint PYTORCH_ALLOC_CONF": ("2.10", "2.10"),
    "hint at pytorch.org": ("2.1", "2.10"),
    "hint at docs.pytorch.org": ("2.11", "2.14"),
    "preemptive": ("2.12", "2.14"),
    "async": ("2.0", "2.14"),
    "torch.cuda.OutOfMemoryError": ("1.13", "2.4"),
    "torch.OutOfMemoryError": ("2.4", "2.14"),
}
EXCLUDED = {
    "device as a number": "2.3",
    "hint PYTORCH_CUDA_ALLOC_CONF": "2.10",
    "hint PYTORCH_HIP_ALLOC_CONF": "2.10",
}


def releases_of(facts: set[str]) -> tuple[str, ...]:
    """The releases that print a message with these facts, oldest first; empty when facts contradict."""
    fitting = set(range(len(RELEASES)))
    for first, last in (EVIDENCE[fact] for fact in facts if fact in EVIDENCE):
        fitting &= set(range(RELEASES.index(first), RELEASES.index(last) + 1))
    excluded = {EXCLUDED[fact] for fact in facts if fact in EXCLUDED}
    return tuple(RELEASES[index] for index in sorted(fitting) if RELEASES[index] not in excluded)


def narrowed(releases: tuple[str, ...], exception: str | None) -> tuple[str, ...]:
    """Those of `releases` that raise an exception of this name; all of them where the name tells nothing."""
    fitting = releases_of({exception}) if exception in EVIDENCE else ()
    return tuple(release for release in releases if release in fitting) or releases
