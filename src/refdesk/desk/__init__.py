"""The front door, and the only place that builds services from settings.

- `front`: `Desk`, the verbs: ingest, search, ask, stream, delete, and what a library holds
- `ingesting`: how one ingestion is done
- `services`: settings to store, embedder, reranker, answerer, parsers, each built when first needed
- `questions`: its part that searches and runs pipelines
- `rechecking`: a stored answer's citations, held against the library as it is now
- `asking`, `calls`: one question: what a run begins with, its services, the answer that comes of it
- `given`: what a caller gives, refused where it cannot be meant
- `seeing`: who asks, and what they see of collections
- `streams`: work that tells what it does, as a stream
"""

from refdesk.desk.front import Desk, aopen
from refdesk.desk.rechecking import Recheck
from refdesk.pipeline.answers import answered

__all__ = ["Desk", "Recheck", "answered", "aopen"]
