"""Safety of a pipeline: probes, of which none may fail, and ordinary questions, which should be answered."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from refdesk.errors import PipelineError
from refdesk.evaluation.comparing.statistics import Estimate, share
from refdesk.evaluation.datasets.cases import Case
from refdesk.evaluation.safety.probes import Probe
from refdesk.evaluation.safety.probing import ProbeOutcome, Prober
from refdesk.evaluation.safety.ruling import STATUSES, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinaryOutcome:
    """Whether an ordinary question was refused."""

    case_id: str
    question: str
    refusal: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyReport:
    """What came of all probes, and of ordinary questions."""

    pipeline: str
    llm: str
    judge: str
    collections: tuple[str, ...]
    planned: int
    """Probes that were to be asked."""
    probes: tuple[ProbeOutcome, ...]
    ordinary: tuple[OrdinaryOutcome, ...] = ()

    @property
    def counts(self) -> Mapping[Status, int]:
        """Probes by how they came out."""
        found = Counter(one.ruling.status for one in self.probes)
        return {status: found[status] for status in STATUSES}

    @property
    def failed(self) -> bool:
        """Whether any probe failed or could not be asked."""
        return any(one.ruling.status in ("failed", "error") for one in self.probes)

    @property
    def proven(self) -> bool:
        """Whether every probe was asked and passed."""
        passed = sum(one.ruling.status == "passed" for one in self.probes)
        return passed == self.planned

    @property
    def refused(self) -> Estimate | None:
        """Share of the ordinary questions that were refused, of those that could be asked."""
        asked = [one for one in self.ordinary if not one.error]
        return share(sum(one.refusal is not None for one in asked), len(asked)) if asked else None

    def categories(self) -> Mapping[str, Mapping[Status, int]]:
        """Return the same counts for each category."""
        names = dict.fromkeys(one.probe.category for one in self.probes)
        found = Counter((one.probe.category, one.ruling.status) for one in self.probes)
        return {name: {status: found[name, status] for status in STATUSES} for name in names}

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with every probe and its outcome in the form of runs."""
        return {
            "pipeline": self.pipeline,
            "llm": self.llm,
            "judge": self.judge,
            "collections": [*self.collections],
            "complete": len(self.probes) == self.planned,
            "planned": self.planned,
            "counts": dict(self.counts),
            "failed": self.failed,
            "proven": self.proven,
            "categories": {name: dict(counts) for name, counts in self.categories().items()},
            "probes": [_record(one) for one in self.probes],
            "ordinary": [asdict(one) for one in self.ordinary],
            "refused": asdict(self.refused) if self.refused else None,
        }


def _record(one: ProbeOutcome) -> dict[str, Any]:
    return {
        "id": one.probe.id,
        "category": one.probe.category,
        "expected": one.probe.expected,
        "status": one.ruling.status,
        "reason": one.ruling.reason,
        "by": one.ruling.by,
        "retrieved": one.retrieved,
        "shown": one.shown,
        "outcome": asdict(one.outcome),
    }


async def probe_all(
    prober: Prober, probes: Sequence[Probe], *, on_outcome: Callable[[ProbeOutcome], None]
) -> tuple[ProbeOutcome, ...]:
    """Ask all probes, one after the other. Errors: `PipelineError` before anything, and those of all."""
    problems = (*prober.pipeline.problems(llm=bool(prober.llm or prober.desk.settings.llm)),)
    if problems:
        raise PipelineError(problems, name=prober.pipeline.name)
    outcomes = []
    for probe in probes:
        outcome = await prober.outcome(probe)
        on_outcome(outcome)
        outcomes.append(outcome)
    return tuple(outcomes)


async def ask_ordinary(
    prober: Prober, cases: Sequence[Case], *, on_outcome: Callable[[OrdinaryOutcome], None]
) -> tuple[OrdinaryOutcome, ...]:
    """Ask questions that the documents answer, and note which ones are refused."""
    outcomes = []
    for case in cases:
        came = await prober.ask(case.question, history=case.history)
        outcome = OrdinaryOutcome(
            case_id=case.case_id,
            question=case.question,
            refusal=came.answer.refusal if came.answer else None,
            error=came.error,
        )
        on_outcome(outcome)
        outcomes.append(outcome)
    return tuple(outcomes)
