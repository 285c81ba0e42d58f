"""How well each channel finds the accepted answers: `python measure.py [FOLDER]` prints two tables.

Each topic with an accepted answer is a question, once by its title, once by the beginning of what was asked.
The post that asks is no candidate: only posts with a number above 1 are searched. The questions are written
to questions-title.jsonl and questions-text.jsonl in FOLDER, for `refdesk eval run`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import psycopg

from refdesk.desk import Desk, aopen
from refdesk.documents import Mode
from refdesk.evaluation.datasets.beir import Beir, BeirDocument
from refdesk.evaluation.searching.finders import Finder, Found
from refdesk.evaluation.searching.retrieval import evaluate_retrieval
from refdesk.filters import Compare
from refdesk.parsing.html import html_to_markdown

LONGEST = 300
"""Characters of the text that are taken as the question."""
DEPTH = 25
WAYS: Mapping[str, tuple[Mode, bool]] = {
    "keyword": ("keyword", False),
    "vector": ("vector", False),
    "fused (RRF)": ("hybrid", False),
    "fused + reranked": ("hybrid", True),
}
ACCEPTED = """
SELECT t.id, t.title, p.cooked, f.value FROM topics t
JOIN topic_custom_fields f ON f.topic_id = t.id AND f.name = 'accepted_answer_post_id'
JOIN posts p ON p.topic_id = t.id AND p.post_number = 1 ORDER BY t.id"""


def questions() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return titles, beginnings of texts, and source ids of the accepted answers, by topic."""
    with psycopg.connect(os.environ["FORUM_DB"]) as connection:
        rows = connection.execute(ACCEPTED).fetchall()
    titles = {str(topic): title for topic, title, _, _ in rows}
    texts = {str(topic): beginning(html) for topic, _, html, _ in rows}
    return titles, texts, {str(topic): f"forum:{post}" for topic, _, _, post in rows}


def beginning(html: str) -> str:
    """Return the first words of a post."""
    text = " ".join(html_to_markdown(html).split())
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0]


def finder(desk: Desk, collection: str, name: str, mode: Mode, rerank: bool) -> Finder:
    """Return one way to search the answers."""

    async def find(question: str) -> Found:
        results = await desk.search(
            question,
            collections=collection,
            mode=mode,
            fusion="rrf",
            top_k=DEPTH,
            rerank=rerank,
            filters=Compare("post_number", ">", 1),
        )
        return Found(results.hits)

    return Finder(name=name, find=find)


async def measure(folder: str = ".", collection: str = "forum") -> None:
    titles, texts, accepted = questions()
    async with aopen() as desk:
        stored = await desk.documents(collections=collection)
        documents = tuple(BeirDocument(one.source_id, one.title, "") for one in stored)
        for kind, asked in (("title", titles), ("text", texts)):
            write(Path(folder, f"questions-{kind}.jsonl"), asked, accepted)
            data = Beir(
                name=kind,
                split="accepted",
                documents=documents,
                queries=asked,
                judgements={topic: {accepted[topic]: 1} for topic in asked},
            )
            finders = [finder(desk, collection, name, *way) for name, way in WAYS.items()]
            report = await evaluate_retrieval(data, finders)
            print(f"\nasked by the {kind}: {len(asked)} questions, {len(documents)} posts")
            print(f"{'':18}{'Hit@5':>7}{'MRR@10':>8}")
            for way in report.ways:
                hit, mrr = way.scores["Recall@5"], way.scores["MRR@10"]
                print(f"{way.name:18}{hit:7.3f}{mrr:8.3f}")


def write(path: Path, asked: Mapping[str, str], accepted: Mapping[str, str]) -> None:
    """Write a question file."""
    rows = ({"id": topic, "question": text, "expected": [accepted[topic]]} for topic, text in asked.items())
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    asyncio.run(measure(*sys.argv[1:2]))
