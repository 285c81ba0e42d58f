"""Time the default reranker, with token vectors stored at ingestion and computed on the fly.

    python benchmarks/rerank_latency.py --data DATA/scifact --library .bench/fit

The corpus is ingested with token vectors into `--library` where it is not there yet.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import anyio
import typer

from refdesk.desk import aopen
from refdesk.documents import Hit, Scope
from refdesk.embedding import TokenEmbedder
from refdesk.evaluation.datasets.beir import read_beir
from refdesk.evaluation.searching.metrics import percentile
from refdesk.evaluation.searching.retrieval import ingest_corpus
from refdesk.reranking import Reranker
from refdesk.reranking.maxsim import MaxSimReranker

CANDIDATES = (25, 50)


async def seconds(reranker: Reranker, question: str, hits: Sequence[Hit]) -> float:
    """Time one call."""
    began = time.perf_counter()
    await reranker.rerank(question, hits)
    return time.perf_counter() - began


async def measure(folder: str, library: Path, questions: int) -> None:
    """Print median and 95th percentile for each number of candidates."""
    data = read_beir(folder)
    name = f"fit-{data.name}"
    async with aopen(library, token_vectors=True) as desk:
        await ingest_corpus(desk, data, collection=name)
        reader, embedder = await desk.services.reader(Scope((name,))), await desk.services.embedder()
        assert isinstance(embedder, TokenEmbedder), "The reranker needs token vectors."
        ways = {"stored": MaxSimReranker(embedder, reader), "computed": MaxSimReranker(embedder)}
        for candidates in CANDIDATES:
            for way, reranker in ways.items():
                times = []
                for question in list(data.queries.values())[:questions]:
                    results = await desk.search(question, collections=name, top_k=candidates)
                    times.append(await seconds(reranker, question, results.hits))
                median, slow = percentile(times, 0.5) * 1000, percentile(times, 0.95) * 1000
                typer.echo(f"{candidates} candidates, {way}: p50 {median:.0f} ms, p95 {slow:.0f} ms")


def main(
    data: Annotated[str, typer.Option(help="Folder in the BEIR layout.")],
    library: Annotated[Path, typer.Option(help="Folder that keeps the ingested corpora.")] = Path(
        ".bench/fit"
    ),
    questions: Annotated[int, typer.Option(help="Questions that are timed.")] = 30,
) -> None:
    """Time the default reranker."""
    anyio.run(measure, data, library, questions)


if __name__ == "__main__":
    typer.run(main)
