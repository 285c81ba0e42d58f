import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.evaluation.making import TEXTS as TOWN

import refdesk
from refdesk.desk import Desk
from refdesk.evaluation.calibrating.asking import Asked
from refdesk.testing.embedders import HashingEmbedder

TEXTS = {
    "leave": ("Leave", "Thirty days of leave are granted every year."),
    "erlang": ("Erlang", "Erlang processes share no memory."),
    "library": ("", "The library opens at nine."),
    "empty": ("Nothing", ""),
}
QUERIES = {"q1": "How many days of leave?", "q2": "Do Erlang processes share memory?", "q3": "Not judged"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of three documents and two judged queries."""
    root = tmp_path / "tiny set"
    (root / "qrels").mkdir(parents=True)
    corpus = [{"_id": name, "title": title, "text": text} for name, (title, text) in TEXTS.items()]
    queries = [{"_id": name, "text": text} for name, text in QUERIES.items()]
    (root / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)) + "\n")
    (root / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)) + "\n")
    judged = ["query-id\tcorpus-id\tscore", "q1\tleave\t2", "q1\tlibrary\t1", "q2\terlang\t1", "q3\tleave\t0"]
    (root / "qrels" / "test.tsv").write_text("\n".join(judged) + "\n")
    return root


def asked(score: float | None, *, right: bool = True, on_topic: bool = True, name: str = "") -> Asked:
    """Return a question that was asked."""
    return Asked(
        query_id=name or f"{on_topic}{right}{score}",
        question=f"Question {name}?",
        on_topic=on_topic,
        score=score,
        right=right and on_topic,
        reranker="" if score is None else "mine",
        documents=("a", "b"),
    )


def crowd(count: int = 200, seed: int = 0) -> list[Asked]:
    """Return questions around 0.5 on topic, of which low ones have wrong evidence, and as many off topic."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        score = draw.gauss(0.5, 0.1)
        found.append(asked(score, right=score + draw.gauss(0, 0.1) > 0.4, name=f"on{number}"))
        found.append(asked(draw.gauss(0.15, 0.06), on_topic=False, name=f"off{number}"))
    return found


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Desk]:
    async with refdesk.aopen(
        tmp_path / "lib", embedder=HashingEmbedder(), reranker="none", mode="keyword"
    ) as desk:
        for title, text in TOWN.items():
            await desk.ingest_text(text, source_id=title, title=title)
        yield desk
