"""Time `import refdesk` and `refdesk --help` in new processes; the lowest of ten."""

import subprocess
import sys
import time


def lowest(command: list[str], times: int = 10) -> float:
    """Return the shortest run in seconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    bare = lowest([sys.executable, "-c", "pass"])
    imported = lowest([sys.executable, "-c", "import refdesk"]) - bare
    told = lowest([sys.executable, "-m", "refdesk", "--help"])
    print(f"python -c pass        {bare * 1000:6.0f} ms")
    print(f"import refdesk        {imported * 1000:6.0f} ms on top")
    print(f"refdesk --help        {told * 1000:6.0f} ms in all")


if __name__ == "__main__":
    main()
