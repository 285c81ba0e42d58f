"""Fit the mixture of the default reranker, and show on what scale its relevance lies.

    python benchmarks/fit_reranker.py --data scifact:train --data 2wiki/beir:test --half

Each data set is FOLDER:SPLIT in the BEIR layout, with training questions. The corpus is ingested once, with
token vectors, into the folder `--library`. Printed are nDCG@10 of the mixtures that do best on average, and
percentiles of the best hit's relevance for questions about the collection and about another one.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import numpy as np
import typer
from numpy.typing import NDArray

from refdesk.desk import Desk, aopen
from refdesk.documents import Hit, Scope
from refdesk.embedding import TokenEmbedder
from refdesk.evaluation.datasets.beir import Beir, read_beir
from refdesk.evaluation.searching.metrics import means, ranked_documents, score_rankings
from refdesk.evaluation.searching.retrieval import ingest_corpus
from refdesk.reranking.maxsim import MIXTURE, MaxSimReranker, Mixture, best_cosines, fused

COSINE, KEYWORD, LATE, RARITY = (0.0, 0.3, 0.5, 0.7, 1.0), (0.5, 0.7, 1.0), (1.0, 1.5, 2.0), (0.0, 1.0, 2.0)
PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class Asked:
    """A question with its hits and each token's best cosine in each hit."""

    query: str
    hits: tuple[Hit, ...]
    best: NDArray[np.float32]


async def ask(desk: Desk, collection: str, questions: dict[str, str], candidates: int) -> list[Asked]:
    """Search every question and compare its tokens with those of the hits."""
    reader, embedder = await desk.services.reader(Scope((collection,))), await desk.services.embedder()
    assert isinstance(embedder, TokenEmbedder), "The mixture is one of token vectors."
    reranker = MaxSimReranker(embedder, reader)
    asked = []
    for query, question in questions.items():
        hits = (await desk.search(question, collections=collection, top_k=candidates)).hits
        tokens = await reranker.token_vectors(hits)
        vectors = (await embedder.embed_tokens([question]))[0].vectors
        asked.append(Asked(query, hits, best_cosines(vectors, [tokens[hit.chunk.chunk_id] for hit in hits])))
    return asked


def quality(data: Beir, asked: list[Asked], mixture: Mixture) -> float:
    """Return nDCG@10 of the hits in the order of a mixture."""
    rankings = {}
    for one in asked:
        order = np.argsort(-fused(one.hits, one.best, mixture), kind="stable")
        rankings[one.query] = ranked_documents(one.hits[number] for number in order)
    judged = {one.query: data.judgements[one.query] for one in asked}
    return means(score_rankings(judged, rankings))["nDCG@10"]


def top_relevance(asked: list[Asked]) -> str:
    """Return percentiles of the best hit's relevance."""
    tops = [np.square(np.maximum(one.best, 0.0)).mean(axis=1).max() for one in asked]
    return "  ".join(
        f"p{share} {value:.3f}"
        for share, value in zip(PERCENTILES, np.percentile(tops, PERCENTILES), strict=True)
    )


async def fit(sources: list[str], library: Path, candidates: int, half: bool, questions: int) -> None:
    """Print what each mixture gives."""
    sets: list[tuple[str, Beir, list[Asked]]] = []
    async with aopen(library, token_vectors=True) as desk:
        for source in sources:
            folder, _, split = source.rpartition(":")
            data = read_beir(folder, split=split)
            name = f"fit-{data.name}"
            await ingest_corpus(desk, data, collection=name)
            chosen = list(data.queries.items())[:: 2 if half else 1][:questions]
            sets.append((name, data, await ask(desk, name, dict(chosen), candidates)))
        for name, _, asked in sets:
            typer.echo(f"relevance of the best hit, {name}: {top_relevance(asked)}")
        for (name, _, _), (other, data, _) in itertools.permutations(sets, 2):
            foreign = await ask(desk, name, dict(list(data.queries.items())[:150]), candidates)
            typer.echo(
                f"relevance of the best hit, questions of {other} asked of {name}: {top_relevance(foreign)}"
            )
    show(sets)


def show(sets: list[tuple[str, Beir, list[Asked]]]) -> None:
    """Print the best mixtures, the present one, and no reranking."""
    grid = [
        Mixture(cosine=cosine, keyword=keyword, late=late, rarity=rarity)
        for cosine, keyword, late, rarity in itertools.product(COSINE, KEYWORD, LATE, RARITY)
    ]
    rows = [([quality(data, asked, mixture) for _, data, asked in sets], mixture) for mixture in grid]
    plain = [quality(data, asked, Mixture(cosine=1, keyword=1, late=0)) for _, data, asked in sets]
    present = [quality(data, asked, MIXTURE) for _, data, asked in sets]
    typer.echo(f"nDCG@10 of {', '.join(name for name, _, _ in sets)}")
    for scores, label in [(plain, "without late interaction"), (present, f"present: {MIXTURE}")]:
        typer.echo("  ".join(f"{score:.4f}" for score in scores) + f"  {label}")
    for scores, mixture in sorted(rows, key=lambda row: -sum(row[0]))[:10]:
        typer.echo("  ".join(f"{score:.4f}" for score in scores) + f"  {mixture}")


def main(
    data: Annotated[list[str], typer.Option(help="FOLDER:SPLIT, BEIR layout, training questions.")],
    library: Annotated[Path, typer.Option(help="Folder that keeps the ingested corpora.")] = Path(
        ".bench/fit"
    ),
    candidates: Annotated[int, typer.Option(help="Hits that are reranked.")] = 50,
    half: Annotated[
        bool, typer.Option(help="Take every second question and leave the rest for a test.")
    ] = False,
    questions: Annotated[int, typer.Option(help="At most so many questions of a set.")] = 1000,
) -> None:
    """Fit the mixture of the default reranker."""
    anyio.run(fit, data, library, candidates, half, questions)


if __name__ == "__main__":
    typer.run(main)
