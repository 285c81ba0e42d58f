"""The front door, and the only place that builds services from settings.

- `front`: `Desk`, the verbs: ingest, search, ask, stream, delete, and what a library holds
- `services`: settings to store, embedder, reranker, answerer, parsers, each built when first needed
- `questions`: its part that searches and runs pipelines
- `asking`, `calls`: one question: what a run begins with, its services, the answer that comes of it
- `streams`: work that tells what it does, as a stream
"""

from refdesk.desk.asking import answered
from refdesk.desk.front import Desk, aopen

__all__ = ["Desk", "answered", "aopen"]
