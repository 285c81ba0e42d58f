import json
from pathlib import Path

import pytest

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
