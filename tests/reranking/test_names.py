from pathlib import Path

import pytest

from refdesk.embedding import Fingerprint
from refdesk.errors import SettingsError
from refdesk.reranking.maxsim import MaxSimReranker
from refdesk.reranking.names import reranker_for
from refdesk.testing import HashingEmbedder
from refdesk.testing.models import write_tiny_model


def test_maxsim_takes_the_embedder() -> None:
    assert isinstance(reranker_for("maxsim", embedder=HashingEmbedder()), MaxSimReranker)


def test_none_is_none() -> None:
    assert reranker_for("none", embedder=HashingEmbedder()) is None


def test_a_folder_is_a_cross_encoder(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny", head="logits")
    reranker = reranker_for(str(folder), embedder=HashingEmbedder(), cache=tmp_path / "cache")
    assert reranker is not None
    assert reranker.name == "tiny"


@pytest.mark.parametrize("name", ["", "maxsym", "tei:", "cohere:", "/no/such/folder"])
def test_other_names_are_refused_with_what_is_known(name: str) -> None:
    with pytest.raises(SettingsError, match="'maxsim', 'none'"):
        reranker_for(name, embedder=HashingEmbedder())


class WholeTexts:
    """An embedder without token vectors."""

    fingerprint = Fingerprint(model="whole", revision="1", dimension=4)


def test_maxsim_needs_token_vectors() -> None:
    with pytest.raises(SettingsError, match="'whole' gives none"):
        reranker_for("maxsim", embedder=WholeTexts())  # type: ignore[arg-type]
