"""Print the speed figures of refdesk: `make bench`, or one of them with `python benchmarks/run.py NAME`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    *("importing", "embedding", "editing", "store", "postgres", "permissions", "asking", "grounding"),
    *("overhead", "concurrency"),
)


def main(names: list[str]) -> int:
    for name in names or SCRIPTS:
        print(f"\n== {name} ==", flush=True)
        if code := subprocess.run([sys.executable, HERE / f"{name}.py"], check=False).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
