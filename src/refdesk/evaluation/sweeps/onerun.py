"""One configuration of a sweep as a stored run that is asked more and more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from refdesk.errors import StoreLocked
from refdesk.evaluation.datasets.cases import Case, DataSet
from refdesk.evaluation.runs.outcomes import CaseOutcome
from refdesk.evaluation.runs.runheader import Asked
from refdesk.evaluation.runs.running import OnLost, stored_run
from refdesk.evaluation.runs.store import BrokenOff, RunStore, said
from refdesk.evaluation.sweeps.candidates import Candidate
from refdesk.evaluation.sweeps.factors import Setup
from refdesk.evaluation.sweeps.libraries import Opening
from refdesk.evaluation.sweeps.objectives import asks_of
from refdesk.evaluation.sweeps.reading import Sweep
from refdesk.evaluation.sweeps.tried import Status, Tried

OnOutcome = Callable[[CaseOutcome, bool], None]
"""Takes an outcome, and whether it was asked for now rather than known from a run before."""


class Spent(BrokenOff):
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
    on_lost: OnLost

    async def ask(self, run: SweepRun, cases: Sequence[Case], on_outcome: OnOutcome, *, resume: bool) -> None:
        """Ask these cases, but for those that are known, and keep every outcome at once.

        A configuration that fails says so in its status. Errors: `Spent`, `StoreLocked`.
        """
        new: set[str] = set()

        def take(outcome: CaseOutcome) -> None:
            run.status, run.outcomes[outcome.case_id] = "partly", outcome
            on_outcome(outcome, outcome.case_id in new)

        try:
            async with self.opening(run.setup.settings) as desk:
                await stored_run(
                    desk,
                    self.data,
                    run.asked(self.sweep, self.collection),
                    store=self.store,
                    name=run.name,
                    cases=cases,
                    resume=resume,
                    sweep=self.sweep.name,
                    options={"factors": dict(run.candidate.values)},
                    on_case=lambda case: new.add(case.case_id),
                    on_outcome=take,
                    on_lost=self.on_lost,
                )
        except (Spent, StoreLocked):
            raise
        except Exception as error:  # a step or a model of the user's own may raise anything
            run.status, run.error = "failed", said(error)
        else:
            run.status = "done" if len(cases) == len(self.data.cases) else "partly"
