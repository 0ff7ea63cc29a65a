"""Who wrote a line of a log: rank, process and time, as far as what stands before the message tells.

Launchers mark lines in their own ways: ``[rank3]:`` (torch.distributed), ``[default3]:`` (torchrun --tee), ``3:`` (srun
--label), ``[1,3]<stderr>:`` (mpirun), ``(RayWorker pid=71)``, ``(Worker_TP3 pid=71)`` (vLLM), ``[2026-01-27 06:50:01
TP3]`` (SGLang), ``"rank": 3`` (JSON).
Nothing is guessed from a device number: device 0 of each node is another rank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gapless.sources.log.text import COLOUR, TIME

_RANKS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[rank[ :=_]?(\d{1,6})\]",
        r"\[(?:default|trainer|trainers|worker)[ :=_]?(\d{1,6})\]:?",
        r"\[\d{1,6},(\d{1,6})\](?:<[a-z]{1,8}>)?:",
        r"(?i)(?<!local[ -])\b(?:global_?)?rank\\{0,4}\"?[ ]{0,3}[:=_ ]?[ ]{0,3}(\d{1,6})\b",
        r"\((?:[\w.]{0,40}[_ ](?:TP|DP|PP|EP)|\w{0,40}Worker[_ ]?)(\d{1,6})\b[^()]{0,60}pid=",
        r"\bTP(\d{1,4})\]",
        r"^[ \t]{0,80}(\d{1,6}): ",
        r"^[ \t]{0,80}\[(\d{1,6})\]:",
    )
)
_PID = re.compile(r"\bpid[ =:]{1,3}(\d{1,10})\b|\[(?:PID|pid)[ :](\d{1,10})\]|^[\w.-]{1,64}:(\d{1,10}):\d{1,10} \[\d")
_PROCESS = re.compile(r"\(([\w.:]{1,60}[ ,][^()]{0,40}pid=\d{1,10})[^()]{0,60}\)")
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,80}(?:Error|Exception))[\W_]{0,6}$")
_TIME = re.compile(TIME)
_COLOUR = re.compile(COLOUR)


@dataclass(frozen=True)
class Origin:
    """What stands before a message on its line; absent facts are None."""

    rank: int | None = None
    process: str | None = None  # as a launcher names it, like "RayWorker pid=71"
    pid: int | None = None
    time: str | None = None  # as printed
    exception: str | None = None  # class of the exception, as printed

    @staticmethod
    def of(before: str) -> Origin:
        """Read what stands before a message on its line; only the last 400 characters are looked at."""
        text = _COLOUR.sub("", before[-400:]).lstrip("\r")
        ranks = [match for pattern in _RANKS if (match := pattern.search(text))]
        pid, process = _PID.search(text), _PROCESS.search(text)
        exception, time = _EXCEPTION.search(text), _TIME.search(text)
        return Origin(
            rank=int(ranks[0][1]) if ranks else None,
            process=process[1] if process else None,
            pid=int(next(group for group in pid.groups() if group)) if pid else None,
            time=time[0] if time else None,
            exception=exception[1] if exception else None,
        )
