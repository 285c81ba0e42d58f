"""Measure retrieval on public sets, keep what comes out, and print it beside what others published.

    python benchmarks/public.py DATA [--only scifact 2wiki piaf xquad] [--library DIR] [--sample N]

DATA holds `scifact`, `multihop_2wiki/beir`, `piaf/piaf-v1.0.json`, `xquad/xquad.LANG.json`. A set is one run,
kept with every question below the library, and in short in `benchmarks/results`, from which the tables of
docs/benchmarks-public.md are made. What was ingested and asked before costs nothing.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

import refdesk
from refdesk.evaluation.datasets.reading import ingest_data, read_data, sampled, whole_documents
from refdesk.evaluation.reporting.summary import summarise
from refdesk.evaluation.runs.outcomes import Run
from refdesk.evaluation.runs.runheader import Asked
from refdesk.evaluation.runs.running import stored_run
from refdesk.evaluation.runs.store import RunStore, default_folder

RESULTS = Path(__file__).parent / "results"
LANGUAGES = ("en", "de", "es", "ro", "ru", "tr", "ar", "el", "vi", "hi", "th", "zh")
CHANNELS = ("keyword", "vector", "fused", "reranked")


@dataclass(frozen=True, slots=True)
class Public:
    """A public set, and what asks it."""

    name: str
    path: str
    split: str = ""
    embedder: str = "minilm"


SETS = (
    Public("scifact", "scifact", "test"),
    Public("2wiki", "multihop_2wiki/beir", "test"),
    Public("piaf", "piaf/piaf-v1.0.json", embedder="e5"),
    *(Public(f"xquad-{name}", f"xquad/xquad.{name}.json", embedder="e5") for name in LANGUAGES),
)


async def measured(one: Public, data_folder: Path, library: Path, sample: int | None) -> Run:
    """Run one set, or go on where that was left; documents are ranked, as the published figures rank them."""
    data = sampled(whole_documents(read_data(data_folder / one.path, split=one.split)), sample, 0)
    async with refdesk.aopen(library / one.embedder, embedder=one.embedder) as desk:
        collection = f"eval-{one.name}"
        await ingest_data(desk, data, collection=collection)
        store = RunStore(default_folder(desk.settings))
        name = f"{one.name}-{len(data.cases)}"
        asked = Asked(pipeline=None, collection=collection, answers=False)
        return await stored_run(desk, data, asked, store=store, name=name, resume=name in store.names())


def in_short(run: Run) -> dict[str, Any]:
    """Return what is kept of a run in the repository."""
    summary = summarise(run)
    means = {row.name: row.mean for row in summary.measures if row.mean is not None}
    return {
        "data": run.header.data,
        "split": run.header.split,
        "digest": run.header.data_digest,
        "cases": summary.asked,
        "versions": dict(run.header.versions),
        "settings": dict(run.header.settings),
        "measures": {
            name: {"mean": round(mean.value, 4), "low": mean.low, "high": mean.high}
            for name, mean in means.items()
        },
        "p50_ms": {
            channel: round(1000 * sorted(seconds)[len(seconds) // 2])
            for channel, seconds in _seconds(run).items()
        },
    }


def _seconds(run: Run) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for outcome in run.outcomes.values():
        for channel in outcome.channels:
            found.setdefault(channel.name, []).append(channel.seconds)
    return found


def lines(name: str, result: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each channel with the measures that others published."""
    shown = ("nDCG@10", "Recall@2", "Recall@5", "Recall@100", "Hit@1", "MRR@10")
    yield f"{name}: {result['cases']:,} questions"
    yield "channel    " + "".join(measure.rjust(12) for measure in shown) + "      p50 ms"
    for channel in CHANNELS:
        means = [result["measures"].get(f"{channel}.{measure}", {}).get("mean") for measure in shown]
        cells = "".join(("" if mean is None else f"{mean:.3f}").rjust(12) for mean in means)
        yield f"{channel:11}{cells}{result['p50_ms'].get(channel, ''):>12}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names, or what they begin with")
    parser.add_argument("--library", type=Path, default=Path(".refdesk-public"))
    parser.add_argument("--sample", type=int)
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for one in SETS:
        if given.only and not one.name.startswith(tuple(given.only)):
            continue
        result = in_short(await measured(one, given.data, given.library, given.sample))
        (RESULTS / f"{one.name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        print("\n".join(lines(one.name, result)), flush=True)


if __name__ == "__main__":
    anyio.run(main)
