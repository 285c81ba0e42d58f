"""Fakes and conformance suites, for refdesk's own tests and for those of plug-in authors.

- `embedders`: `HashingEmbedder`, and `check_embedder` for every embedder
- `models`: `write_tiny_model`, a model folder with random weights
- `classifiers`: `write_tiny_classifier`, one whose verdict is known
"""

from refdesk.testing.embedders import HashingEmbedder, check_embedder

__all__ = ["HashingEmbedder", "check_embedder"]
