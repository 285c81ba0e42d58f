"""Measure keyword search by its tokens alone: nDCG@10 and recall of BM25, by language and for all in one.

    python benchmarks/keyword_languages.py DATA [--only xquad mixed piaf beir speed]

DATA holds `xquad/xquad.LANG.json` and `piaf/*.json` (SQuAD form: contexts are the documents, questions the
queries) and folders in BEIR layout. Documents are whole: title, space, text. BM25 is that of bm25s (lucene,
k1 1.2, b 0.75), which is what the stores compute. `mixed` puts the contexts of all languages into one index
with detected languages, and asks each question without saying which language it is in.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import bm25s
import ir_measures
import numpy as np
from ir_measures import Qrel, R, ScoredDoc, nDCG

from refdesk.analysis import analyse, analyse_query, detect_language

LANGUAGES = ("en", "de", "es", "ro", "ru", "tr", "ar", "el", "vi", "hi", "th", "zh")
BEIR = (("scifact", "train"), ("scifact", "test"), ("multihop_2wiki/beir", "test"))
MEASURES = (nDCG @ 10, R @ 5, R @ 100)
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts by id, and which document answers which query."""

    documents: dict[str, str] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    relevant: list[Qrel] = field(default_factory=list)


def squad(path: Path) -> Collection:
    found = Collection()
    articles = json.loads(path.read_text("utf-8"))["data"]
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        document = f"{path.stem}-{len(found.documents)}"
        found.documents[document] = paragraph["context"]
        for question in paragraph["qas"]:
            query = f"{path.stem}-{question['id']}"
            found.queries[query] = question["question"]
            found.relevant.append(Qrel(query, document, 1))
    return found


def beir(folder: Path, split: str) -> Collection:
    rows = (folder / "qrels" / f"{split}.tsv").read_text("utf-8").splitlines()[1:]
    relevant = [
        Qrel(query, document, int(score)) for query, document, score in (row.split("\t") for row in rows)
    ]
    asked = {qrel.query_id for qrel in relevant}
    documents = {
        row["_id"]: f"{row.get('title', '')} {row['text']}" for row in lines(folder / "corpus.jsonl")
    }
    queries = {row["_id"]: row["text"] for row in lines(folder / "queries.jsonl") if row["_id"] in asked}
    return Collection(documents, queries, relevant)


def lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def search(documents: dict[str, list[str]], queries: dict[str, list[str]]) -> list[ScoredDoc]:
    names = list(documents)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(list(documents.values()), show_progress=False)
    found: list[ScoredDoc] = []
    for query, tokens in queries.items():
        if known := [token for token in tokens if token in index.vocab_dict]:
            scores = index.get_scores(known)
            best = [at for at in np.argsort(-scores, kind="stable")[:DEPTH] if scores[at] > 0]
            found += [ScoredDoc(query, names[at], float(scores[at])) for at in best]
    return found


def report(name: str, relevant: list[Qrel], found: list[ScoredDoc]) -> None:
    measured = ir_measures.calc_aggregate(MEASURES, relevant, found)
    print(f"{name:28}" + "".join(f"{measured[measure]:10.4f}" for measure in MEASURES), flush=True)


def alone(name: str, data: Collection, language: str) -> None:
    documents = {key: analyse(text, language) for key, text in data.documents.items()}
    queries = {key: analyse_query(text, [language]) for key, text in data.queries.items()}
    report(name, data.relevant, search(documents, queries))


def each_language(folder: Path) -> None:
    for language in LANGUAGES:
        alone(f"xquad {language}", squad(folder / f"xquad/xquad.{language}.json"), language)


def mixed(folder: Path) -> None:
    parts = {language: squad(folder / f"xquad/xquad.{language}.json") for language in LANGUAGES}
    texts = [item for part in parts.values() for item in part.documents.items()]
    asked = [item for part in parts.values() for item in part.queries.items()]
    documents = {key: analyse(text, detect_language(text)) for key, text in texts}
    found = search(documents, {key: analyse_query(text, LANGUAGES) for key, text in asked})
    for language, part in parts.items():
        report(
            f"all in one, {language}", part.relevant, [hit for hit in found if hit.query_id in part.queries]
        )
    report("all in one, all", [qrel for part in parts.values() for qrel in part.relevant], found)


def french(folder: Path) -> None:
    alone("piaf fr", squad(next((folder / "piaf").glob("*.json"))), "fr")


def english(folder: Path) -> None:
    for name, split in BEIR:
        alone(f"{name} {split}", beir(folder / name, split), "en")


def speed(folder: Path) -> None:
    texts = {"en": beir(folder / "scifact", "test").documents.values()}
    texts |= {key: squad(folder / f"xquad/xquad.{key}.json").documents.values() for key in LANGUAGES[1:]}
    for language, documents in texts.items():
        text = "\n".join(documents)
        began = time.perf_counter()
        tokens = len(analyse(text, language))
        seconds = time.perf_counter() - began
        size = len(text.encode()) / 1e6
        print(f"speed {language:22}{size:8.2f} MB{size / seconds:8.2f} MB/s{tokens / seconds:12.0f} tokens/s")


PARTS: dict[str, Callable[[Path], None]] = {
    "speed": speed,
    "beir": english,
    "xquad": each_language,
    "piaf": french,
    "mixed": mixed,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    print(" " * 28 + "".join(f"{measure!s:>10}" for measure in MEASURES))
    for part in options.only:
        PARTS[part](options.data)


if __name__ == "__main__":
    main()
