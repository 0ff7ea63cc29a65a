"""What a run on the pretend card took: a few lines for each process, then what failed, or held most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gapless.explain import Explanation
from gapless.explain.ranks import join_ranks
from gapless.explain.words import plural
from gapless.report.explanation import to_text as explanation_to_text
from gapless.report.ranks import to_text as ranks_to_text
from gapless.tune.fix import Grade
from gapless.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gapless.cards import Card
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix
    from gapless.virtual.launch import Ended

_KNOWN_LIBRARIES = ("libtorch", "libc10")
_MOST_ASSUMPTIONS = 12
_ASSUMED = {
    "size": "sizes depend on values that are not known",
    "branch": "a branch depends on values that are not known",
    "value": "values were read that nothing computed",
    "message": "another rank would have sent something",
}
"""What an assumption means for the run, by its kind."""


@dataclass(frozen=True)
class RanProcess:
    """One process of the run."""

    facts: dict[str, Any]
    explanations: list[tuple[Explanation, list[Fix]]]
    """Of each device that it used: what is wrong, and the changes that help, best first."""
    reserved_ranges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By device: least and most that is reserved at the peak, over the addresses that a driver may give."""
    smallest_card: str | None = None
    """Of the table, on which the run would have fitted too; None where it failed, or no card is large enough."""

    @property
    def snapshot(self) -> str | None:
        """Where its recording is, while the run's folder is there; None where the allocator keeps no history."""
        snapshot = self.facts["snapshot"]
        return None if snapshot is None else str(snapshot)

    @property
    def rank(self) -> int | None:
        """Its rank in a distributed job."""
        rank = self.facts["rank"]
        return None if rank is None else int(rank)

    @property
    def doubts(self) -> list[str]:
        """What its sizes rest on besides PyTorch's own code; none where they are as on a real card."""
        kinds = {one["kind"] for one in self.facts["assumptions"]}
        found = [what for kind, what in _ASSUMED.items() if kind in kinds]
        libraries = foreign_libraries(self.facts)
        if libraries:
            found.append(f"{' and '.join(libraries)} may choose sizes by what they compute")
        return found

    @property
    def grade(self) -> Grade:
        """How far to trust what is said of the run."""
        return Grade.MODELLED if self.doubts or self.facts["world"] else Grade.PROVED


def to_text(ended: Ended, card: Card, processes: list[RanProcess], terminal: Terminal) -> None:
    """Writes the report."""
    how = "ran out of memory" if ended.ran_out else f"ended with status {ended.status}"
    terminal.line(f"gapless: on {card.name}, a card that is not there, with PyTorch {ended.torch.version}: {how}")
    if not processes:
        terminal.line("  No process used a GPU.")
    worlds = {one.facts["world"] for one in processes} - {None}
    if worlds:
        terminal.line(f"  Posed as ranks of a job of {worlds.pop()}; the other ranks are taken to be like them.")
    for one in processes:
        _peaks(one, card, terminal)
    explained = [(one, *answer) for one in processes for answer in one.explanations]
    if len(explained) > 1:
        _ranks(explained, terminal)
        return
    for one in processes:
        _unknown(one, terminal)
        for explanation, fixes in one.explanations:
            terminal.line()
            explanation_to_text(explanation, fixes, terminal)


def _ranks(explained: list[tuple[RanProcess, Explanation, list[Fix]]], terminal: Terminal) -> None:
    """One table, then the ranks that matter; all of them stand in the JSON."""
    ranks = join_ranks([explanation for _, explanation, _ in explained])
    terminal.line()
    ranks_to_text(ranks, terminal)
    for rank in ranks.that_matter:
        process, explanation, fixes = next(one for one in explained if one[1] is rank.explanation)
        terminal.line()
        terminal.line(terminal.paint(rank.name, "bold"))
        _unknown(process, terminal)
        shown = ranks.explanation_of(rank)
        explanation_to_text(shown if isinstance(shown, Explanation) else explanation, fixes, terminal)


def _peaks(process: RanProcess, card: Card, terminal: Terminal) -> None:
    for device in process.facts["devices"]:
        if not device["reserved_bytes_peak"]:
            continue
        reserved = device["reserved_bytes_peak"]
        who = f"rank {process.rank}, " if process.rank is not None else ""
        spare = format_bytes(max(card.capacity_bytes - reserved, 0))
        terminal.line(
            f"  {who}device {device['device']}: {format_bytes(device['allocated_bytes_peak'])} allocated and "
            f"{format_bytes(reserved)} reserved at most, {spare} to spare"
        )
        least, most = process.reserved_ranges.get(device["device"], (reserved, reserved))
        if least < most:
            terminal.line(f"    {format_bytes(least)} to {format_bytes(most)} reserved, by the addresses of the driver")
    if process.smallest_card:
        terminal.line(f"  the smallest card that it fits, of those that `gapless cards` lists: {process.smallest_card}")
    _beside(process, card, terminal)
    if process.doubts:
        terminal.paragraph(f"modelled: {'; '.join(process.doubts)}", 2)


def _beside(process: RanProcess, card: Card, terminal: Terminal) -> None:
    """What is on the card beside PyTorch: each with its own line, for each can be changed."""
    context = card.total_bytes - card.capacity_bytes
    if context:
        terminal.line(f"  beside PyTorch: {format_bytes(context)} of the CUDA context (--context)")
    for device in process.facts["devices"]:
        for library, charge in device["charges"].items():
            if charge["bytes_peak"] or (library == "nccl" and charge["count"]):
                each = "communicator" if library == "nccl" else "handle"
                held, takers = format_bytes(charge["bytes_peak"]), plural(charge["count"], each)
                where = f"in {takers} on device {device['device']}"
                terminal.line(f"  beside PyTorch: {held} of {library} {where} (--charge {library}=SIZE)")


def _unknown(process: RanProcess, terminal: Terminal) -> None:
    """What the card did not know: values that were read, kernels of others."""
    assumptions = process.facts["assumptions"]
    if assumptions:
        terminal.line("  What nothing computed, and nobody sent, was used here:")
    for one in assumptions[:_MOST_ASSUMPTIONS]:
        file, line, _ = terminal.frame((one["file"], one["line"], "")) or ("", 0, "")
        terminal.line(f"    {file}:{line}: {one['assumed']} ({one['times']} times)")
    if len(assumptions) > _MOST_ASSUMPTIONS:
        terminal.line(f"    and at {len(assumptions) - _MOST_ASSUMPTIONS} more places")
    for library in foreign_libraries(process.facts):
        terminal.line(f"  Kernels of {library} ran: the card does not know them.")


def foreign_libraries(facts: dict[str, Any]) -> list[str]:
    """Libraries other than PyTorch's own whose kernels were launched."""
    return sorted(name for name in facts["kernel_libraries"] if not name.startswith(_KNOWN_LIBRARIES))


def to_json(ended: Ended, card: Card, processes: list[RanProcess]) -> dict[str, Any]:
    """The report for machines."""
    return {
        "schema": "gapless.run/1",
        "card": {"name": card.name, "capacity_bytes": card.capacity_bytes, "total_bytes": card.total_bytes},
        "torch": ended.torch.version,
        "status": ended.status,
        "ran_out_of_memory": ended.ran_out,
        "processes": [
            {
                **{key: value for key, value in one.facts.items() if key not in {"snapshot", "devices"}},
                "grade": one.grade,
                "smallest_card": one.smallest_card,
                "devices": [_device_to_json(device, one) for device in one.facts["devices"]],
                "explanations": [
                    {**explanation.to_json(), "fixes": [fix.to_json() for fix in fixes]}
                    for explanation, fixes in one.explanations
                ],
            }
            for one in processes
        ],
    }


def _device_to_json(device: dict[str, Any], process: RanProcess) -> dict[str, Any]:
    own = device["reserved_bytes_peak"]
    return {**device, "reserved_bytes_peak_range": list(process.reserved_ranges.get(device["device"], (own, own)))}
