"""Run a sweep: every configuration a stored run, all asked the same questions, within a budget."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from refdesk.errors import InputError, Problem
from refdesk.evaluation.comparing.statistics import sign_flips
from refdesk.evaluation.datasets.cases import Case, DataSet
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.evaluation.datasets.goldcheck import LostGold, lost_in_words
from refdesk.evaluation.datasets.reading import sampled
from refdesk.evaluation.runs.outcomes import CaseOutcome, lower_is_better
from refdesk.evaluation.runs.store import RunStore
from refdesk.evaluation.sweeps.factors import setup
from refdesk.evaluation.sweeps.form import faulty
from refdesk.evaluation.sweeps.libraries import (
    PARTS,
    OnEvent,
    Opening,
    opened,
    placed_settings,
    prepare,
    wrong_parts,
)
from refdesk.evaluation.sweeps.onerun import Asker, Spent, SweepRun
from refdesk.evaluation.sweeps.reading import Sweep
from refdesk.evaluation.sweeps.report import SweepReport, report
from refdesk.evaluation.sweeps.rows import LEAST
from refdesk.evaluation.sweeps.tried import values_of
from refdesk.settings import Settings

DROPS_THE_BEST = 0.05
"""How often at most a race may drop the configuration that is the best in truth."""
ENOUGH = 0.7
"""Share of the questions above which it is not worth a round of its own to leave out the others."""
OnAsked = Callable[[str, int], None]
"""Takes a configuration's name, and how many more of its questions are done or need not be asked."""


def questions_of(sweep: Sweep, data: DataSet) -> DataSet:
    """Return the cases that a sweep asks. Errors: `InputError` for less than two."""
    if sweep.every > 1:
        cases = data.cases[:: sweep.every]
        data = replace(data, cases=cases, digest=data_digest(cases, data.documents))
    if sweep.sample is not None:
        data = sampled(data, sweep.sample, sweep.seed)
    if len(data.cases) < 2:
        raise InputError(f"The sweep {sweep.name!r} has {len(data.cases)} questions; it needs at least 2.")
    return data


class Sweeping:
    """One sweep on its way: `check`, `prepare`, `ask`, in this order; `report` at any time."""

    def __init__(
        self,
        sweep: Sweep,
        data: DataSet,
        store: RunStore,
        *,
        resume: bool = False,
        opening: Opening = opened,
    ) -> None:
        self.sweep, self.data, self.store = sweep, questions_of(sweep, data), store
        self.collection = sweep.collection or (
            f"eval-{data.name}" if data.documents else sweep.base.own.collection
        )
        self.runs = tuple(_runs(sweep))
        self.warnings: dict[str, None] = {}
        self._resume, self._opening = resume, opening
        self._began, self._dollars = time.monotonic(), 0.0

    @property
    def questions(self) -> int:
        """How many questions there are for all configurations together, if none is dropped."""
        return len(self.runs) * len(self.data.cases)

    async def check(self) -> None:
        """Load every embedder and reranker that is named. Errors: `InputError` with all that is wrong."""
        there = set(self.store.names())
        taken = [one.name for one in self.runs if one.name in there]
        if taken and not self._resume:
            raise InputError(
                f"The sweep {self.sweep.name!r} has {len(taken)} runs already, such as {taken[0]!r}.",
                remedy="Go on with them (--resume), or give the sweep another name.",
            )
        wrong: dict[str, str] = {}
        for name, settings in self._distinct_parts():
            for reason in await wrong_parts(settings, self.sweep.base.judge, self._opening):
                wrong.setdefault(reason, name)
        if wrong:
            told = [f"{name}: {reason}" for reason, name in wrong.items()]
            problems = [Problem(position="", step="", reason=reason, remedy="") for reason in told]
            raise faulty(self.sweep.name, problems)

    async def prepare(self, on_event: OnEvent = lambda event: None) -> None:
        """Make the libraries that configurations search. Errors: those of ingestion."""
        for settings in {one.setup.settings.library: one.setup.settings for one in self.runs}.values():
            await prepare(
                settings,
                self.sweep.base.own,
                self.data,
                self.collection,
                opening=self._opening,
                on_event=on_event,
            )

    async def ask(self, on_asked: OnAsked = lambda name, count: None) -> None:
        """Ask within the budget, and keep every outcome at once.

        With `race`, all configurations are asked a part of the questions, those that are clearly worse than
        the best are dropped, and the others are asked twice as many, until they were asked all. Without it
        one configuration comes after the other. Errors: `StoreLocked`.
        """
        asker = Asker(
            sweep=self.sweep,
            data=self.data,
            collection=self.collection,
            store=self.store,
            opening=self._opening,
            on_lost=self._warn_of_lost,
        )
        try:
            for cases in self._rounds():
                for run in self._left():
                    await self._ask(asker, run, cases, on_asked)
                if len(cases) < len(self.data.cases):
                    self._drop(cases, on_asked)
        except Spent as spent:
            self.warnings[f"The budget of {spent} is spent; `--resume` goes on."] = None

    def report(self) -> SweepReport:
        """Return what is known by now."""
        return report(
            [one.tried for one in self.runs],
            name=self.sweep.name,
            data=self.data.name,
            split=self.data.split,
            questions=len(self.data.cases),
            objective=self.sweep.objective,
            strategy=self.sweep.strategy,
            warnings=tuple(self.warnings),
            seed=self.sweep.seed,
        )

    def _distinct_parts(self) -> Iterator[tuple[str, Settings]]:
        """Yield the configurations that name parts which none before them does."""
        seen: set[tuple[object, ...]] = set()
        for one in self.runs:
            settings = one.setup.settings
            parts = tuple(getattr(settings, name) for name in PARTS)
            if parts not in seen:
                yield one.candidate.name, settings
            seen.add(parts)

    def _rounds(self) -> Iterator[tuple[Case, ...]]:
        """Yield the cases that have to have been asked after each round, twice as many each time."""
        cases = list(self.data.cases)
        if self.sweep.race:
            random.Random(self.sweep.seed).shuffle(cases)
        count = self.sweep.race or 2 * len(cases)
        while count <= ENOUGH * len(cases):
            yield tuple(cases[:count])
            count *= 2
        yield tuple(cases)

    def _left(self) -> list[SweepRun]:
        return [one for one in self.runs if one.status not in ("dropped", "failed")]

    async def _ask(self, asker: Asker, run: SweepRun, cases: tuple[Case, ...], on_asked: OnAsked) -> None:
        self._refuse_spent()
        before = len(run.outcomes)

        def take(outcome: CaseOutcome, asked_now: bool) -> None:
            nonlocal before
            on_asked(run.candidate.name, len(run.outcomes) - before)
            before = len(run.outcomes)
            if asked_now:
                self._spend(outcome)

        await asker.ask(run, cases, take, resume=self._resume or bool(run.outcomes))
        if run.status == "failed":
            on_asked(run.candidate.name, len(self.data.cases) - len(run.outcomes))

    def _warn_of_lost(self, gold: Sequence[LostGold]) -> None:
        self.warnings |= dict.fromkeys(one for one in lost_in_words(gold) if one not in self.data.warnings)

    def _spend(self, outcome: CaseOutcome) -> None:
        self._dollars += outcome.cost
        if self.sweep.budget.dollars is not None and "cost" in outcome.excluded:
            self.warnings["The budget in dollars does not hold: no price is known for the model."] = None
        self._refuse_spent()

    def _refuse_spent(self) -> None:
        """Errors: `Spent`."""
        budget = self.sweep.budget
        if budget.seconds is not None and time.monotonic() - self._began >= budget.seconds:
            raise Spent(f"{budget.seconds:g} seconds")
        if budget.dollars is not None and self._dollars >= budget.dollars:
            raise Spent(f"{budget.dollars:g} dollars")

    def _drop(self, cases: tuple[Case, ...], on_asked: OnAsked) -> None:
        """Leave out what is clearly worse than the best so far; the base stays."""
        sign = -1.0 if lower_is_better(self.sweep.objective) else 1.0
        names = {case.case_id for case in cases}
        known = {
            one.name: {
                name: sign * value for name, value in values_of(one.outcomes, self.sweep.objective).items()
            }
            for one in self._left()
        }
        means = {name: np.mean(list(values.values())) for name, values in known.items() if values}
        if not means:
            return
        best = known[max(means, key=lambda name: means[name])]
        for run in self._left():
            ours = known[run.name]
            gaps = [ours[name] - best[name] for name in ours if name in best and name in names]
            if run is not self.runs[0] and self._is_behind(gaps, len(known)):
                run.status = "dropped"
                on_asked(run.candidate.name, len(self.data.cases) - len(run.outcomes))

    def _is_behind(self, gaps: list[float], compared: int) -> bool:
        """Tell it from chance, of as many comparisons as there are in all rounds."""
        looks = compared * (len(list(self._rounds())) - 1)
        chance = sign_flips(np.array(gaps), "below", seed=self.sweep.seed) if len(gaps) >= LEAST else 1.0
        return chance <= DROPS_THE_BEST / looks


def _runs(sweep: Sweep) -> Iterator[SweepRun]:
    for one in sweep.candidates():
        made = setup(sweep.base, one.values)
        settings = placed_settings(made.settings, sweep.base.own)
        yield SweepRun(candidate=one, setup=replace(made, settings=settings), name=f"{sweep.name}.{one.name}")
