"""Time the default grounder: an answer of 200 words against six chunks of 220, from Python's own reference.

Cold is the first check in a new process, weights and lexicon loaded with it, the embedder apart; then new
evidence in each round, and the same again, as where a draft was written anew.
"""

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pydoc_data.topics import topics
from statistics import median

import anyio

from refdesk.citations.sentences import sentences
from refdesk.documents import Hit
from refdesk.embedding.names import embedder_for
from refdesk.grounding import Grounder
from refdesk.grounding.named import grounder_for
from refdesk.testing.rerankers import sample_hits

ROUNDS, CHUNKS, WORDS, ANSWER = 20, 6, 220, 200
COLD = 3
"""New processes."""


def rounds() -> list[tuple[str, tuple[Hit, ...]]]:
    """Return answers with their evidence; no two share any."""
    words = " ".join(text for _, text in sorted(topics.items())).split()
    texts = [" ".join(words[at : at + WORDS]) for at in range(0, ROUNDS * CHUNKS * WORDS, WORDS)]
    parts = [texts[at : at + CHUNKS] for at in range(0, len(texts), CHUNKS)]
    return [(answer(part, number), sample_hits(part)) for number, part in enumerate(parts)]


def answer(texts: Sequence[str], seed: int) -> str:
    """Return sentences of some texts, a word of each left out so that they are judged, of so many words."""
    found = [span.of(text).split() for text in texts for span in sentences(text)]
    random.Random(seed).shuffle(found)
    words = [word for sentence in found for place, word in enumerate(sentence) if place != 2]
    return " ".join(words[:ANSWER])


async def milliseconds(grounder: Grounder, text: str, hits: Sequence[Hit]) -> float:
    began = time.perf_counter()
    found = await grounder.ground(text, hits)
    assert found.score is not None, found.reason
    return 1000 * (time.perf_counter() - began)


async def cold() -> None:
    """Print the time of the first check of this process."""
    embedder, (text, hits) = embedder_for("minilm"), rounds()[0]
    print(await milliseconds(grounder_for("local", embedder=embedder), text, hits))


async def warm() -> None:
    local = grounder_for("local", embedder=embedder_for("minilm"))
    todo = rounds()
    await milliseconds(local, *todo[0])
    new, same, words = [], [], []
    for text, hits in todo[1:]:
        new.append(await milliseconds(local, text, hits))
        same.append(await milliseconds(local, text, hits))
        words.append(await milliseconds(grounder_for("lexical"), text, hits))
    for name, times in (("new evidence", new), ("same evidence", same), ("lexical", words)):
        show(name, times)


def show(name: str, times: Sequence[float]) -> None:
    print(f"{name:14} {median(times):6.0f} ms median of {len(times)}, least {min(times):.0f} ms", flush=True)


def main() -> None:
    if sys.argv[1:] == ["--cold"]:
        anyio.run(cold)
        return
    command = [sys.executable, __file__, "--cold"]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(COLD)]
    show("cold", [float(one.stdout) for one in runs])
    anyio.run(warm)


if __name__ == "__main__":
    main()
