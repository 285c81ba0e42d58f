"""One configuration of a sweep as a stored run that is asked more and more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from refdesk.desk import Desk
from refdesk.errors import StoreLocked
from refdesk.evaluation.datasets.cases import Case, DataSet
from refdesk.evaluation.runs.outcomes import CaseOutcome, RunHeader
from refdesk.evaluation.runs.runheader import Asked, header_of
from refdesk.evaluation.runs.running import evaluate
from refdesk.evaluation.runs.store import OpenRun, RunStore, said
from refdesk.evaluation.sweeps.candidates import Candidate
from refdesk.evaluation.sweeps.factors import Setup
from refdesk.evaluation.sweeps.libraries import Opening
from refdesk.evaluation.sweeps.objectives import asks_of
from refdesk.evaluation.sweeps.reading import Sweep
from refdesk.evaluation.sweeps.tried import Status, Tried

OnOutcome = Callable[[CaseOutcome, bool], None]
"""Takes an outcome, and whether it was asked for now rather than known from a run before."""


class Spent(Exception):
    """The budget is spent."""


@dataclass(kw_only=True)
class SweepRun:
    """What is known of one configuration."""

    candidate: Candidate
    setup: Setup
    name: str
    """Of its stored run."""
    status: Status = "not run"
    error: str = ""
    outcomes: dict[str, CaseOutcome] = field(default_factory=dict)

    @property
    def tried(self) -> Tried:
        return Tried(
            candidate=self.candidate,
            run=self.name,
            status=self.status,
            outcomes=self.outcomes,
            error=self.error,
        )

    def asked(self, sweep: Sweep, collection: str) -> Asked:
        """Return what the run asks."""
        asks = asks_of(sweep.objective)
        return Asked(
            pipeline=self.setup.pipeline if asks.pipeline else None,
            collection=collection,
            channels=asks.channels,
            answers=asks.answers,
            judge=(sweep.base.judge or None) if asks.answers else None,
            seed=sweep.seed,
        )


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Asks configurations of one sweep."""

    sweep: Sweep
    data: DataSet
    """All questions."""
    collection: str
    store: RunStore
    opening: Opening

    async def ask(self, run: SweepRun, cases: Sequence[Case], on_outcome: OnOutcome, *, resume: bool) -> None:
        """Ask these cases, but for those that are known, and keep every outcome at once.

        A configuration that fails says so in its status. Errors: `Spent`, `StoreLocked`.
        """
        try:
            async with self.opening(run.setup.settings) as desk:
                asked = run.asked(self.sweep, self.collection)
                told = {"sweep": self.sweep.name, "factors": dict(run.candidate.values)}
                header = await header_of(desk, self.data, asked, name=run.name, **told)
                part = replace(self.data, cases=tuple(cases))
                await self._within(run, desk, part, asked, header, on_outcome, resume=resume)
        except (Spent, StoreLocked):
            raise
        except Exception as error:  # a step or a model of the user's own may raise anything
            run.status, run.error = "failed", said(error)

    async def _within(
        self,
        run: SweepRun,
        desk: Desk,
        part: DataSet,
        asked: Asked,
        header: RunHeader,
        on_outcome: OnOutcome,
        *,
        resume: bool,
    ) -> None:
        kept = self.store.begin(header, resume=resume)
        run.status = "partly"
        try:
            await evaluate(
                desk,
                part,
                pipeline=asked.pipeline,
                collection=asked.collection,
                channels=asked.channels,
                answers=asked.answers,
                judge=asked.judge,
                seed=asked.seed,
                known=kept.known,
                on_outcome=lambda outcome: _keep(run, kept, outcome, on_outcome),
            )
        except BaseException as error:
            broken = isinstance(error, Exception) and not isinstance(error, Spent)
            kept.finish(
                "crashed" if broken else "interrupted", said(error) if broken else "It was broken off."
            )
            raise
        whole = len(part.cases) == len(self.data.cases)
        kept.finish(
            "done" if whole else "interrupted", "" if whole else "The sweep has not asked everything."
        )
        run.status = "done" if whole else "partly"


def _keep(run: SweepRun, kept: OpenRun, outcome: CaseOutcome, on_outcome: OnOutcome) -> None:
    asked_now = kept.known.get(outcome.case_id) != outcome
    kept.add(outcome)
    run.outcomes[outcome.case_id] = outcome
    on_outcome(outcome, asked_now)
