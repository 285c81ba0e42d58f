"""The adapter for any architecture, where its package is installed."""

import json
from pathlib import Path

import numpy as np
import pytest

from refdesk.embedding.names import embedder_for
from refdesk.embedding.sentence_transformers import SentenceTransformersEmbedder
from refdesk.errors import ModelError
from refdesk.testing import check_embedder

pytest.importorskip("sentence_transformers")

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("default")]


@pytest.fixture
def loadable(folder: Path) -> Path:
    """The tiny folder with the name of a tokenizer class, which transformers wants."""
    names = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names), encoding="utf-8")
    return folder


async def test_it_keeps_the_contract(loadable: Path) -> None:
    await check_embedder(SentenceTransformersEmbedder(loadable))
    await check_embedder(SentenceTransformersEmbedder(loadable, query_prefix="q: ", document_prefix="d: "))


async def test_it_agrees_with_our_own_export(loadable: Path, tmp_path: Path) -> None:
    texts = ["a short text", "", "one more, of other length"]
    ours = embedder_for(str(loadable), cache=tmp_path / "cache", precision="fp32")
    theirs = SentenceTransformersEmbedder(loadable)
    assert np.allclose(await ours.embed_documents(texts), await theirs.embed_documents(texts), atol=1e-5)
    assert ours.max_tokens == theirs.max_tokens
    assert [ours.count_tokens(text) for text in texts] == [theirs.count_tokens(text) for text in texts]


def test_a_folder_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}', encoding="utf-8")
    with pytest.raises(ModelError, match="sentence-transformers cannot load"):
        embedder_for(str(tmp_path))
