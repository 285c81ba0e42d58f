from pathlib import Path

import pytest

from refdesk.testing.models import write_tiny_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder with random weights; its inputs hold 32 tokens, and a token is a letter."""
    return write_tiny_model(tmp_path / "tiny")
