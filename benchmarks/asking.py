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
COLD = """
import sys, refdesk
from pathlib import Path
refdesk.open(sys.argv[1]).ask(sys.argv[2])
print(*(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""


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
        command = [sys.executable, "-c", COLD, str(library), QUESTION]
        peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(f"ask cold   {time.perf_counter() - began:.2f} s (a new process, everything loaded)")
    print(f"peak RSS   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (ingest and ask)")
    print(f"peak RSS   {int(peak) / 1024:.0f} MB (ask alone)")


if __name__ == "__main__":
    main()
