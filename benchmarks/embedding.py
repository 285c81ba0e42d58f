"""Print what embedders cost: `python benchmarks/embedding.py [NAME:PRECISION ...]`.

Each embedder runs in a process of its own, so that memory is its own. Texts have 128 tokens, queries 14.
Models have to be pulled before. Times are the best of three; texts per second of processor time say the
most on a busy machine.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from refdesk.embedding.names import embedder_for
from refdesk.embedding.onnx import OnnxEmbedder

DEFAULT = ("minilm:int8", "minilm:fp32")
TEXTS = 256
QUERIES = 40
WORDS = "the library lends books maps and recordings to all who live in the town for four weeks"
COLUMNS = ("embedder", "load s", "texts/s", "texts/CPU s", "with tokens/s", "query ms", "RSS MB")


def texts() -> list[str]:
    """Return texts of about 128 tokens that differ from each other."""
    words = WORDS.split()
    sentences = [[words[(start + step) % len(words)] for step in range(124)] for start in range(TEXTS)]
    return [f"{' '.join(sentence)} {number}" for number, sentence in enumerate(sentences)]


async def best(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return the least seconds of three runs, and the least processor seconds."""
    walls, processors = [], []
    for _ in range(3):
        wall, processor = time.perf_counter(), time.process_time()
        await work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


async def measure(name: str, precision: str) -> dict[str, object]:
    """Load one embedder and time it."""
    started = time.perf_counter()
    embedder = await anyio.to_thread.run_sync(lambda: embedder_for(name, precision=precision))
    loaded = time.perf_counter() - started
    documents = texts()

    async def ask() -> None:
        for number in range(QUERIES):
            await embedder.embed_queries([f"how long may I keep a book of the library {number}?"])

    seconds, processor = await best(lambda: embedder.embed_documents(documents))
    asked, _ = await best(ask)
    row: dict[str, object] = {
        "embedder": f"{name}:{precision}",
        "load s": round(loaded, 2),
        "texts/s": round(TEXTS / seconds, 1),
        "texts/CPU s": round(TEXTS / processor, 1),
        "with tokens/s": "",
        "query ms": round(1000 * asked / QUERIES, 2),
    }
    if isinstance(embedder, OnnxEmbedder):
        both, _ = await best(lambda: embedder.embed_documents_with_tokens(documents))
        row["with tokens/s"] = round(TEXTS / both, 1)
    row["RSS MB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return row


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(anyio.run(measure, sys.argv[2], sys.argv[3])))
        return
    print(" ".join(f"{column:>14}" for column in COLUMNS))
    for chosen in sys.argv[1:] or DEFAULT:
        name, _, precision = chosen.rpartition(":")
        command = [sys.executable, str(Path(__file__)), "--one", name, precision]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(" ".join(f"{row[column]!s:>14}" for column in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
