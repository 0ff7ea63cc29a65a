"""What to do, as far as a log allows to say: settings only where they can help, and how to record the proof."""

from __future__ import annotations

from dataclasses import dataclass

from gapless.conf import line_to_copy, merge
from gapless.errors import ConfError
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.wordings import RELEASES

RECORDING = (
    "import os, torch; "
    'torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python"); '
    "torch._C._cuda_attach_out_of_memory_observer(lambda *_: torch.cuda.memory._dump_snapshot("
    "f\"oom_rank{os.environ.get('RANK', 0)}.pickle\"))"
)
"""One line, put before the model is built; works from 2.1 on. `gapless explain` reads the file that it writes."""
RECORD = (
    "To record the proof, call torch.cuda.memory._record_memory_history() before the model is built and _dump_snapshot"
    " in an out-of-memory observer (line below), run until it fails, and give the file to gapless explain."
)
RECORD_OLD = "PyTorch before 2.1 cannot record what gapless needs: run once with 2.1 or later to get a proof."
NO_SETTING = "No allocator setting helps. What does: "
GAINS_LITTLE = "No allocator setting gains more than that. What helps: "
SMALLER = "a smaller batch, activation checkpointing, less or sharded optimizer state, or a card with more memory"


@dataclass(frozen=True)
class Surroundings:
    """What else is known beside the message."""

    backend: str = "CUDA"
    releases: tuple[str, ...] = ()
    settings: str = ""  # the last settings string that the log shows in use
    hint_is_missing: bool = False  # 2.14 leaves it out when expandable segments are on; a quotation may do so as well

    @staticmethod
    def of(message: OomMessage, settings: tuple[str, ...]) -> Surroundings:
        """Of a message in a log that shows these settings strings."""
        missing = message.wording == "sentences" and not message.is_cut and message.hint is None
        return Surroundings(message.backend, message.releases, settings[-1] if settings else "", missing)

    @property
    def is_expandable(self) -> bool:
        """Whether the log shows that expandable segments are on."""
        return "expandable_segments:True" in self.settings.replace(" ", "")

    @property
    def may_be_expandable(self) -> bool:
        """Whether they may be on although the log shows no settings that say so."""
        return self.hint_is_missing and not self.is_old and "expandable_segments" not in self.settings

    @property
    def is_old(self) -> bool:
        """Whether the release is surely before 2.1."""
        return bool(self.releases) and RELEASES.index(self.releases[-1]) < RELEASES.index("2.1")

    @property
    def rounds_up(self) -> bool:
        """Whether requests may be rounded up to powers of two."""
        return "roundup_power2_divisions" in self.settings

    def how_to_record(self) -> str:
        """The sentence about a recording."""
        return RECORD_OLD if self.is_old else RECORD

    def against_pieces(self) -> str:
        """What may help when free memory lies in pieces."""
        if self.is_expandable:
            return (
                "Expandable segments are on already: lower the peak, or allocate what lives long before what comes"
                " and goes."
            )
        if self.is_old:
            return (
                "PyTorch before 2.1 has no expandable segments: max_split_size_mb:128 may help, a newer release may"
                " help more."
            )
        caution = " (on ROCm only from 7 on)" if self.backend == "HIP" else ""
        advice = f"Try {self._line()}{caution}; a log cannot prove that it helps."
        if self.may_be_expandable:
            advice += (
                " It may be on already (PyTorch 2.14 then leaves out its hint, which this text lacks; it may"
                " be cut off): lower the peak then."
            )
        return advice

    def void_hint(self, message: OomMessage) -> str:
        """A sentence about the hint that PyTorch prints whatever the cause was."""
        if message.hint is None:
            return ""
        option = "max_split_size_mb" if message.hint == "max_split_size_mb" else "expandable_segments"
        return f" The message's advice about {option} does not apply here."

    def _line(self) -> str:
        try:
            return line_to_copy(merge(self.settings, {"expandable_segments": "True"}))
        except ConfError:
            return line_to_copy("expandable_segments:True")
