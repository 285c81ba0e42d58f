"""Ask with a model that obeys every planted document; print the harm by the way that a question took.

The cases are those of `tests/injection`.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.injection.asking import outcomes
from tests.injection.cases import CASES
from tests.injection.channels import CHANNELS
from tests.injection.harm import CHECKS, harms
from tests.injection.library import library


def main() -> None:
    cases, obeyed, harmful, ways = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, library(Path(folder), CASES) as desk:
        for case in CASES:
            asked = outcomes(desk, case)
            found = [harm for outcome in asked for harm in harms(outcome, desk)]
            cases[case.channel] += 1
            obeyed[case.channel] += any(outcome.model.obeyed for outcome in asked)
            harmful[case.channel] += bool(found)
            ways.update(way for way, _ in found)
    print(f"{'pipeline':14} {'cases':>6} {'obeyed':>7} {'harmful':>8}")
    for name in CHANNELS:
        print(f"{name:14} {cases[name]:6} {obeyed[name]:7} {harmful[name]:8}")
    print(f"{'all':14} {cases.total():6} {obeyed.total():7} {harmful.total():8}")
    print("\nharmful effects by the way out")
    for way in CHECKS:
        print(f"{way:20} {ways[way]:6}")


if __name__ == "__main__":
    main()
