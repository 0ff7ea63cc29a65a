"""`Fix`: one change, what a replay says of it, and how sure that is. Sizes are bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

ENDS_HERE = "recording-ends-here"
"""Name of the risk that what comes after the failing request is not known."""


class Kind(str, Enum):
    """What is changed."""

    SETTING = "setting"
    CODE = "code"
    CARD = "card"
    LIMIT = "limit"
    """The memory fraction of the process."""
    NONE = "none"
    """Nothing: the run as it was does on this card."""


class Outcome(str, Enum):
    """What becomes of the run; best first."""

    SURVIVES = "survives"
    """The recording goes on for a whole training step after the critical moment, and replays to its end."""
    SERVES_REQUEST = "serves_request"
    """Everything recorded is served, the critical request too; the recording holds no whole step after it."""
    UNKNOWN = "unknown"
    FAILS = "fails"

    @property
    def rank(self) -> int:
        """0 is best."""
        return list(Outcome).index(self)

    def in_words(self, *, has_failed: bool) -> str:
        """As texts show it, where a request failed when it was recorded and where none did."""
        if self is Outcome.SERVES_REQUEST:
            return "serves the request" if has_failed else "serves all recorded"
        return str(self.value)


class Grade(str, Enum):
    """How sure the outcome is; surest first."""

    PROVED = "proved"
    """Complete history, exact replay, nothing assumed."""
    MODELLED = "modelled"
    """By replay, under assumptions that concern `Fix.assumed_bytes`."""
    GUESS = "guess"


@dataclass(frozen=True)
class Risk:
    """What a change may cost or break."""

    name: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A change with its evidence; fields are named as in the JSON."""

    kind: Kind
    change: str
    """For people, in one line."""
    conf: str | None
    """The whole settings string with the change in it; None where nothing of it is a setting."""
    call: str | None = None
    """What the program has to call before it allocates, beside `conf`; None: nothing."""
    outcome: Outcome
    grade: Grade
    assumed_bytes: int
    """What the assumptions behind the outcome concern: of edited allocations the most that is live at one time; 0 where
    nothing is assumed."""
    margin_bytes: int | None
    """How much smaller the card could be with the same outcome; negative: what is missing; None: not known."""
    smallest_card_bytes: int | None = None
    """The least that PyTorch must be able to reserve for that outcome; None: none does, or it was not looked for."""
    reserved_bytes_peak_before: int
    reserved_bytes_peak_after: int
    device_calls_before: int
    """Segments and pages asked from the driver or given back, over the recording."""
    device_calls_after: int
    retries_per_step: float | None
    """Requests for which the whole cache was given back, by training step; None where steps are not known."""
    risks: tuple[Risk, ...] = ()

    @property
    def is_open_ended(self) -> bool:
        """Only up to the critical request is anything known of it."""
        return any(risk.name == ENDS_HERE for risk in self.risks)

    def to_json(self) -> dict[str, Any]:
        """The FIX of the JSON schemas."""
        values = asdict(self)
        values.update(kind=self.kind.value, outcome=self.outcome.value, grade=self.grade.value)
        del values["smallest_card_bytes"]  # beside the fixes in gapless.tune/1
        values["risks"] = [asdict(risk) for risk in self.risks]
        return values
