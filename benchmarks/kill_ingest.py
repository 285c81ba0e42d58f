"""Kill an ingestion with SIGKILL at random moments, then look for what is missing, double or half.

python benchmarks/kill_ingest.py [FILES] [ROUNDS]
"""

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import refdesk

CHILD = """
import sys, refdesk
from refdesk.events import SourceFinished
def told(event):
    if isinstance(event, SourceFinished):
        print(event.outcome, event.chunks, event.source_id, flush=True)
with refdesk.open(sys.argv[1]) as desk:
    desk.ingest(sys.argv[2], on_event=told)
"""
WORDS = [
    "river",
    "stone",
    "window",
    "letter",
    "garden",
    "engine",
    "market",
    "winter",
    "silver",
    "paper",
    "island",
    "bridge",
    "candle",
    "forest",
]


def make_files(folder: Path, count: int) -> None:
    """Write files of different length, so that they give one to ten chunks each."""
    randomly = random.Random(1)
    for number in range(count):
        sentences = [" ".join(randomly.choices(WORDS, k=12)) + "." for _ in range(randomly.randint(5, 150))]
        (folder / f"{number:04}.md").write_text(f"# File {number}\n\n" + " ".join(sentences), "utf-8")


def killed_run(library: Path, folder: Path, seconds: float) -> tuple[set[str], bool]:
    """Return the sources that the run acknowledged before it was killed, and whether it had ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(library), str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    first = process.stdout.readline()
    time.sleep(seconds)
    ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    lines = (first + rest).splitlines()
    return {line.split(" ", 2)[2] for line in lines if line.count(" ") >= 2}, ended


def check(library: Path, acknowledged: set[str]) -> tuple[int, int]:
    """Count documents and chunks; fail where something acknowledged is missing or something is double."""
    with refdesk.open(library) as desk:
        records = desk.documents()
        stored = {record.source_id: record for record in records}
        missing = acknowledged - set(stored)
        assert not missing, f"acknowledged and lost: {sorted(missing)[:5]}"
        assert len(stored) == len(records), "a document is stored twice"
        hits = desk.search("river stone window", mode="vector", top_k=20_000).hits
        doubles = [key for key, times in Counter(hit.chunk.chunk_id for hit in hits).items() if times > 1]
        assert not doubles, f"chunks stored twice: {doubles[:5]}"
        per_document = Counter(hit.chunk.document_id for hit in hits)
        wrong = [one.source_id for one in records if per_document[one.document_id] != one.chunks]
        assert not wrong, f"half documents: {wrong[:5]}"
        return len(records), len(hits)


def main(files: int = 1000, rounds: int = 10) -> None:
    randomly = random.Random(2)
    with tempfile.TemporaryDirectory() as scratch:
        folder, library = Path(scratch) / "files", Path(scratch) / "library"
        folder.mkdir()
        make_files(folder, files)
        acknowledged: set[str] = set()
        for number in range(1, rounds + 1):
            told, ended = killed_run(library, folder, randomly.uniform(1.0, 10.0))
            acknowledged |= told
            documents, chunks = check(library, acknowledged)
            print(
                f"kill {number:2}: {len(told):4} acknowledged in this run, {documents:4} documents, "
                f"{chunks:5} chunks, nothing lost, double or half{' (had ended)' if ended else ''}"
            )
        with refdesk.open(library) as desk:
            summary = desk.ingest(folder)
        documents, chunks = check(library, acknowledged)
        assert documents == files, f"{documents} of {files} documents after the last run"
        print(f"last run: {summary.counts}, {documents} documents, {chunks} chunks")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
