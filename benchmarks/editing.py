"""Count what is embedded where a document gets one paragraph more: python benchmarks/editing.py [FILE ...]

By default, the files of docs/ as they are, the largest, and all of them as one.
"""

import sys
import tempfile
import time
from pathlib import Path

import refdesk
from refdesk.blocking import BlockingDesk
from refdesk.ingest import Summary

DOCS = Path(__file__).parent.parent / "docs"
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)
MORE = "One more paragraph was added here by somebody who keeps these documents."


def ingest(desk: BlockingDesk, name: str, text: str) -> tuple[Summary, float]:
    began = time.perf_counter()
    summary = desk.ingest_text(text, source_id=name, title=name, media_type="text/markdown")
    return summary, time.perf_counter() - began


def measure(desk: BlockingDesk, name: str, text: str) -> None:
    """Print what the whole text took, and what it took with one more paragraph at each of five places."""
    whole, seconds = ingest(desk, name, text)
    print(f"{name}: {whole.embedded} texts embedded in {seconds:.2f} s", flush=True)
    paragraphs = text.split("\n\n")
    for place in PLACES:
        at = int(place * len(paragraphs))
        more, again = ingest(desk, name, "\n\n".join([*paragraphs[:at], MORE, *paragraphs[at:]]))
        print(f"  one paragraph more at {place:.0%}: {more.embedded} in {again:.2f} s", flush=True)
        ingest(desk, name, text)


def main(names: list[str]) -> None:
    texts = {name: Path(name).read_text("utf-8") for name in names}
    if not texts:
        pages = {path.name: path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))}
        largest = max(pages, key=lambda name: len(pages[name]))
        texts = {largest: pages[largest], "all pages": "\n\n".join(pages.values())}
    with tempfile.TemporaryDirectory() as folder, refdesk.open(Path(folder) / "library") as desk:
        for name, text in texts.items():
            measure(desk, name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
