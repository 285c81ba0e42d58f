"""Questions to hits.

- `search`: the modes `vector`, `keyword` and `hybrid`, within one reader
- `fusion`: two ranked lists to one: `zscore` (default) and `rrf`
- `neighbours`: the chunks around hits
- `results`: what a search returns, with the explanation of how it was found
"""

from refdesk.results import FUSIONS, Arm, EmptyReason, Explanation, Fusion, Results
from refdesk.retrieval.neighbours import widen
from refdesk.retrieval.search import CANDIDATES, search

__all__ = [
    "CANDIDATES",
    "FUSIONS",
    "Arm",
    "EmptyReason",
    "Explanation",
    "Fusion",
    "Results",
    "search",
    "widen",
]
