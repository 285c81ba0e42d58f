"""The front door, and the only place that builds services from settings.

- `front`: `Desk`, the verbs: ingest, search, ask, stream, delete, and what a library holds
- `services`: settings to store, embedder, reranker, answerer, parsers, each built when first needed
- `asking`: one question from search to checked answer
"""

from refdesk.desk.front import Desk, aopen

__all__ = ["Desk", "aopen"]
