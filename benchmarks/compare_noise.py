"""How often `compare` is wrong about two runs that are alike, and how often right about damage.

    refdesk eval run reranked --data DATA/scifact --no-answers --channels none --pipeline reranked.yaml
    refdesk eval run plain --data DATA/scifact --no-answers --channels none --pipeline plain.yaml
    python benchmarks/compare_noise.py --runs .refdesk/evaluations --run reranked --damaged plain

Each row has so many comparisons, each on other questions drawn by chance from the stored ones:

- jittered: the run beside itself, neighbours in its rankings exchanged by chance, anew on both sides
- exchanged: for each question it is thrown which run is A and which is B, so they are alike, and yet differ
  as much as two configurations do
- damaged: the run beside the other one
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from refdesk.evaluation.comparing.compare import compare
from refdesk.evaluation.comparing.comparison import Comparison
from refdesk.evaluation.comparing.pairing import group
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run
from refdesk.evaluation.runs.store import RunStore
from refdesk.evaluation.searching.metrics import score_rankings

Pair = tuple[Run, Run]


def of_cases(run: Run, outcomes: Sequence[CaseOutcome]) -> Run:
    """Return a run of other outcomes."""
    return replace(run, outcomes={one.case_id: one for one in outcomes})


def drawn(run: Run, other: Run, count: int, rng: random.Random) -> Pair:
    """Return both runs on the same questions, drawn by chance."""
    cases = sorted(run.outcomes.keys() & other.outcomes.keys())
    kept = sorted(rng.sample(cases, min(count, len(cases))))
    return of_cases(run, [run.outcomes[one] for one in kept]), of_cases(
        other, [other.outcomes[one] for one in kept]
    )


def jittered(run: Run, share: float, rng: random.Random) -> Run:
    """Return a run whose neighbours in rankings are exchanged by chance, and measured anew."""
    stage = group(run).stage
    cases = [one for one in run.outcomes.values() if one.needs and not one.error]
    rankings = {
        one.case_id: _exchanged(next(way.documents for way in one.channels if way.name == stage), share, rng)
        for one in cases
    }
    judged = {
        one.case_id: {gold.document: need.grade for need in one.needs for gold in need.alternatives}
        for one in cases
    }
    scores = score_rankings(judged, rankings)
    named = [{f"{stage}.{name}": value for name, value in scores[one.case_id].items()} for one in cases]
    return of_cases(run, [replace(one, measures=own) for one, own in zip(cases, named, strict=True)])


def _exchanged(ranking: Sequence[str], share: float, rng: random.Random) -> list[str]:
    found = list(ranking)
    for place in range(1, len(found)):
        if rng.random() < share:
            found[place - 1], found[place] = found[place], found[place - 1]
    return found


def exchanged(a: Run, b: Run, rng: random.Random) -> Pair:
    """Return two runs that are alike: for each question it is thrown which outcome is whose."""
    pairs = [(a.outcomes[one], b.outcomes[one]) for one in a.outcomes]
    turned = [pair if rng.random() < 0.5 else (pair[1], pair[0]) for pair in pairs]
    return of_cases(a, [one for one, _ in turned]), of_cases(b, [other for _, other in turned])


def verdicts(make: Callable[[random.Random], Pair], seeds: int) -> tuple[Counter[str], Comparison]:
    """Count what is said, the family of all other measures apart; and return the last comparison."""
    said: Counter[str] = Counter()
    for seed in range(seeds):
        found = compare(*make(random.Random(seed)), seed=seed, changed=0)
        said[found.verdict] += 1
        said["others"] += any(row.verdict != "no evidence" for row in found.others)
    return said, found


def main(
    run: Annotated[str, typer.Option(help="Name of a stored run.")],
    damaged: Annotated[str, typer.Option(help="Name of one on the same data that is worse.")],
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path(".refdesk/evaluations"),
    seeds: Annotated[int, typer.Option(min=1, help="Comparisons a row.")] = 100,
    sample: Annotated[int, typer.Option(min=1, help="Questions a comparison.")] = 150,
    share: Annotated[float, typer.Option(help="Of neighbours that are exchanged.")] = 0.1,
) -> None:
    """Count verdicts."""
    store = RunStore(runs)
    a, b = store.read(run), store.read(damaged)

    def with_jitter(rng: random.Random) -> Pair:
        part, _ = drawn(a, a, sample, rng)
        return jittered(part, share, rng), jittered(part, share, rng)

    rows: dict[str, Callable[[random.Random], Pair]] = {
        "jittered": with_jitter,
        "exchanged": lambda rng: exchanged(*drawn(a, b, sample, rng), rng),
        "damaged": lambda rng: drawn(a, b, sample, rng),
    }
    typer.echo(f"{a.header.data}: {seeds} comparisons of {sample} questions each")
    typer.echo("row        no evidence  better  worse  mixed  any other measure")
    for name, make in rows.items():
        said, last = verdicts(make, seeds)
        counts = (said["no evidence"], said["better"], said["worse"], said["mixed"], said["others"])
        typer.echo(f"{name:10} {counts[0]:11}  {counts[1]:6}  {counts[2]:5}  {counts[3]:5}  {counts[4]:17}")
        differ = ", ".join(f"{row.measure} in {row.better + row.worse}" for row in last.headline)
        typer.echo(f"           questions that differ in the last one: {differ}")
    show(compare(a, b), run, damaged)


def show(whole: Comparison, run: str, damaged: str) -> None:
    """Print the comparison of all questions."""
    typer.echo(f"all {whole.cases} questions: {damaged} beside {run}: {whole.verdict}")
    for row in whole.headline:
        gap = row.difference
        told = f"{gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), p {row.corrected:.4f}: {row.verdict}"
        typer.echo(f"  {row.measure} {row.a:.3f} -> {row.b:.3f}, {told}")


if __name__ == "__main__":
    typer.run(main)
