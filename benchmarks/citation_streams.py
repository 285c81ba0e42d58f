"""What readers see of random replies cut at random places: streamed = stored, every citation exact.

Each case is a reply with markers, links, HTML and code in every broken form, streamed against evidence of odd
characters. What comes out is read with a Markdown parser of its own. Exit code 1 where anything is wrong.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter

from refdesk.context import NumberBy
from refdesk.testing.replies import faults, pieces, reply, sources, written

LIBRARIES = 200
"""Sets of evidence that the cases draw from."""
MOST_SHOWN = 10


async def main(cases: int, seed: int) -> int:
    """Try so many replies; print counts and the first failures."""
    chance = random.Random(seed)
    libraries = [sources(chance) for _ in range(LIBRARIES)]
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    for case in range(cases):
        documents, evidence = chance.choice(libraries)
        text = reply(chance)
        number_by: NumberBy = chance.choice(("chunk", "document"))
        answer, shown = await written(pieces(chance, text), evidence, number_by)
        whole, _ = await written([text], evidence, number_by) if case % 4 == 0 else (answer, shown)
        wrong = faults(answer, shown, documents, evidence)
        if whole != answer:
            wrong = (*wrong, f"uncut it gives {whole.text!r}")
        counts["citations"] += len(answer.citations)
        counts["removed markers"] += answer.removed_markers
        counts["removed links"] += answer.removed_links
        counts["failures"] += bool(wrong)
        if wrong and counts["failures"] <= MOST_SHOWN:
            print(f"case {case}: {text!r}\n  shown {answer.text!r}\n  {'; '.join(wrong)}")
    print(f"cases {cases:,} (seed {seed}), {time.perf_counter() - began:.0f} s")
    for name in ("citations", "removed markers", "removed links", "failures"):
        print(f"{name} {counts[name]:,}")
    return int(counts["failures"] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.cases, given.seed)))
