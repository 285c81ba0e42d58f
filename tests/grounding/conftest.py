"""Evidence, and classifiers of the words in it."""

from pathlib import Path
from typing import Any

import pytest
from tests.grounding.tiny import EVIDENCE, WORDS, OpenTiny

from refdesk.documents import Hit
from refdesk.grounding.classifiers import Classifier
from refdesk.grounding.opening import Options, open_classifier
from refdesk.testing.classifiers import write_tiny_classifier
from refdesk.testing.rerankers import sample_hits


@pytest.fixture
def tiny(tmp_path: Path) -> OpenTiny:
    """Open a classifier that `write_tiny_classifier` writes with the same options."""

    def opened(name: str = "tiny", *, options: Options | None = None, **written: Any) -> Classifier:
        folder = write_tiny_classifier(tmp_path / name, WORDS, **written)
        return open_classifier(folder, options=options or Options())

    return opened


@pytest.fixture
def hits() -> tuple[Hit, ...]:
    return sample_hits(EVIDENCE)
