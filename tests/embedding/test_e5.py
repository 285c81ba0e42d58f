"""multilingual-e5-small, where its weights have been pulled."""

from pathlib import Path

import numpy as np
import pytest

from refdesk.embedding.e5 import LIBRARY, E5Embedder
from refdesk.errors import InputError, ModelError
from refdesk.models.cache import default_cache
from refdesk.models.catalog import E5
from refdesk.models.locate import list_models, locate
from refdesk.testing import check_embedder

pytestmark = pytest.mark.anyio

READY = {status.name: status.state for status in list_models(cache=default_cache())}[E5.name] == "ready"
needs_weights = pytest.mark.skipif(not READY, reason="refdesk models pull multilingual-e5-small")


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(locate(E5.name))


@needs_weights
@pytest.mark.model
async def test_it_keeps_the_contract(e5: E5Embedder) -> None:
    await check_embedder(e5)


@needs_weights
@pytest.mark.model
async def test_a_question_finds_its_answer_in_another_language(e5: E5Embedder) -> None:
    queries = await e5.embed_queries(["Wie viele Urlaubstage bekomme ich?", "图书馆几点关门?"])
    documents = await e5.embed_documents(
        ["Every employee has thirty days of leave.", "The library closes at 8 pm."]
    )
    scores = queries @ documents.T
    assert scores[0, 0] > scores[0, 1]
    assert scores[1, 1] > scores[1, 0]


@needs_weights
@pytest.mark.model
async def test_a_zero_byte_does_not_end_the_text(e5: E5Embedder) -> None:
    first, second = await e5.embed_documents(["leave\0library", "leave\0mountains"])
    assert not np.array_equal(first, second)


@needs_weights
@pytest.mark.model
async def test_text_that_is_no_unicode_is_refused(e5: E5Embedder) -> None:
    with pytest.raises(InputError, match="not valid Unicode"):
        await e5.embed_queries(["\udfff"])


def test_a_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    library = tmp_path / LIBRARY.name
    library.parent.mkdir()
    library.write_bytes(b"no library")
    with pytest.raises(ModelError, match="multilingual-e5-small needs"):
        E5Embedder(tmp_path)
