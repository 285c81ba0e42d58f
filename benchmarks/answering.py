"""Measure the extractive answerer: `python benchmarks/answering.py DATA [--languages en,de] [--sample 300]`.

DATA holds `xquad/xquad.LANG.json`, and for questions off the topic `scifact/queries.jsonl` and
`piaf/piaf-v1.0.json`. Each question is put to the five paragraphs that BM25 ranks first. Printed per
language, for the half of the paragraphs that no constant was fitted on: how often the answer is refused,
given with reserve (weak) or without (ok), and how often what is quoted holds the answer; the same shares
where the paragraph that answers is taken away, where paragraphs from far down the ranking are shown, and for
questions of other collections.
"""

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import bm25s
import numpy as np

from refdesk.analysis import analyse
from refdesk.answering.extractive import ExtractiveAnswerer
from refdesk.context import Answer, Evidence
from refdesk.documents import Chunk, Hit
from refdesk.embedding import Embedder, TokenEmbedder, TokenVectors, Vectors
from refdesk.embedding.names import embedder_for
from refdesk.events import Done
from refdesk.evidence import number_hits

Question = tuple[str, int, str]
"""The question, its paragraph, its answer."""


class Remembering(TokenEmbedder):
    """An embedder that embeds no text twice, since paragraphs come again for many questions."""

    def __init__(self, inner: Embedder) -> None:
        assert isinstance(inner, TokenEmbedder), "The figures are those of token vectors."
        self.inner = inner
        self.known: dict[str, TokenVectors] = {}

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(new, await self.inner.embed_tokens(new), strict=True))
        return [self.known[text] for text in texts]

    async def embed_documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        return await self.inner.embed_documents_with_tokens(texts)


def xquad(folder: Path, language: str) -> tuple[list[str], list[Question]]:
    paragraphs: list[str] = []
    questions: list[Question] = []
    for article in json.loads((folder / f"xquad.{language}.json").read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            asked = [
                (one["question"], len(paragraphs), one["answers"][0]["text"]) for one in paragraph["qas"]
            ]
            questions += asked
            paragraphs.append(paragraph["context"])
    return paragraphs, questions


def other_questions(data: Path) -> dict[str, list[str]]:
    claims = (data / "scifact" / "queries.jsonl").read_text("utf-8").splitlines()
    piaf = json.loads((data / "piaf" / "piaf-v1.0.json").read_text("utf-8"))["data"]
    french = [one["question"] for article in piaf for part in article["paragraphs"] for one in part["qas"]]
    return {"scifact claims": [json.loads(line)["text"] for line in claims], "piaf (French)": french}


def evidence(paragraphs: Sequence[str], places: Sequence[int]) -> tuple[Evidence, ...]:
    return number_hits([_hit(paragraphs[place], str(place)) for place in places])


def _hit(text: str, name: str) -> Hit:
    chunk = Chunk(
        chunk_id=name, document_id=name, collection="c", position=0, start=0, end=len(text), text=text
    )
    return Hit(chunk=chunk, title="", url=None, source_id=name)


async def answered(answerer: ExtractiveAnswerer, question: str, shown: Sequence[Evidence]) -> Answer:
    async for event in answerer.stream(question, shown):
        if isinstance(event, Done):
            return event.answer
    raise AssertionError("A stream of an answer ends with Done.")


def report(name: str, answers: Sequence[Answer], golds: Sequence[str] = ()) -> None:
    zones = Counter(answer.zone for answer in answers)
    line = "  ".join(f"{zone} {zones[zone] / len(answers):.3f}" for zone in ("none", "weak", "ok"))
    given = [(one, gold) for one, gold in zip(answers, golds, strict=False) if one.zone != "none"]
    if given:
        held = [any(gold.lower() in cited.quote.lower() for cited in one.citations) for one, gold in given]
        length = np.mean([len(one.citations) for one, _ in given])
        line += f"  quote holds the answer {np.mean(held):.3f}  quotes {length:.2f}"
    print(f"  {name:24} n {len(answers):4}  {line}", flush=True)


async def measure(answerer: ExtractiveAnswerer, data: Path, language: str, sample: int) -> None:
    paragraphs, questions = xquad(data / "xquad", language)
    index = bm25s.BM25(method="lucene")
    index.index([analyse(text, language) for text in paragraphs], show_progress=False)

    def ranked(question: str) -> list[int]:
        return [int(place) for place in np.argsort(-index.get_scores(analyse(question, language)))]

    async def ask(question: str, places: Sequence[int]) -> Answer:
        return await answered(answerer, question, evidence(paragraphs, places))

    held_out = [question for question in questions if question[1] % 2]
    chosen = random.Random(0).sample(held_out, min(sample, len(held_out)))
    tops = [ranked(question) for question, _, _ in chosen]
    pairs = list(zip(chosen, tops, strict=True))
    print(language)
    golds = [gold for _, _, gold in chosen]
    report("asked", [await ask(one[0], top[:5]) for one, top in pairs], golds)
    without = [await ask(one[0], [at for at in top[:6] if at != one[1]][:5]) for one, top in pairs]
    report("answer taken away", without)
    report("far paragraphs", [await ask(one[0], top[60:65]) for one, top in pairs])
    if language == "en":
        for name, asked in other_questions(data).items():
            report(name, [await ask(question, ranked(question)[:5]) for question in asked[:sample]])


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--languages", default="en")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--embedder", default="minilm")
    options = parser.parse_args()
    answerer = ExtractiveAnswerer(cast(Embedder, Remembering(embedder_for(options.embedder))))
    for language in options.languages.split(","):
        await measure(answerer, options.data, language, options.sample)


if __name__ == "__main__":
    asyncio.run(main())
