"""Time one ask on the standard library's docstrings: cold (a new process) and warm, with peak memory."""

import resource
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import refdesk
from refdesk.sources.records import Records

QUESTION = "How do I create a temporary directory that is removed automatically?"
COLD = "import sys, refdesk; refdesk.open(sys.argv[1]).ask(sys.argv[2])"


def main() -> None:
    demo = Path(__file__).parent.parent / "examples" / "demo" / "sources.py"
    with tempfile.TemporaryDirectory() as scratch:
        records = Path(scratch) / "python.jsonl"
        made = runpy.run_path(str(demo))
        made["write"](records, made["python_records"]())
        library = Path(scratch) / "library"
        with refdesk.open(library) as desk:
            began = time.perf_counter()
            summary = desk.ingest(Records(records))
            taken = time.perf_counter() - began
            print(f"ingest     {summary.documents} documents, {summary.chunks} chunks in {taken:.1f} s")
            desk.ask(QUESTION)
            warm = []
            for _ in range(20):
                began = time.perf_counter()
                desk.ask(QUESTION)
                warm.append(time.perf_counter() - began)
            print(f"ask warm   {sorted(warm)[10] * 1000:.0f} ms (median of 20)")
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", COLD, str(library), QUESTION], check=True)
        print(f"ask cold   {time.perf_counter() - began:.2f} s (a new process, everything loaded)")
    for who, name in ((resource.RUSAGE_SELF, "ingest and ask"), (resource.RUSAGE_CHILDREN, "ask alone")):
        print(f"peak RSS   {resource.getrusage(who).ru_maxrss / 1024:.0f} MB ({name})")


if __name__ == "__main__":
    main()
