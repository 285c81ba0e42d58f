"""The default model with its real weights."""

import numpy as np
import pytest

from refdesk.embedding.names import embedder_for
from refdesk.embedding.onnx import OnnxEmbedder
from refdesk.testing import check_embedder

pytestmark = [pytest.mark.anyio, pytest.mark.model]

PAIRS = [
    ("How many days of holiday do I get?", "Every employee has thirty days of paid leave."),
    ("How do I reset my password?", "Choose 'forgotten password' to set a new one."),
    ("When does the library close?", "Opening hours: 9 am to 8 pm, Monday to Saturday."),
]
FIRST = [0.05705, 0.03549, 0.0328, -0.02475, 0.02394, 0.05213, 0.00109, -0.11341]
"""The first components that the sentence-transformers package gives for the first document."""


def minilm(precision: str) -> OnnxEmbedder:
    embedder = embedder_for("minilm", precision=precision)
    assert isinstance(embedder, OnnxEmbedder)
    return embedder


@pytest.mark.parametrize("precision", ["int8", "fp32"])
async def test_it_keeps_the_contract(precision: str) -> None:
    await check_embedder(minilm(precision))


@pytest.mark.parametrize("precision", ["int8", "fp32"])
async def test_a_question_is_nearest_its_answer(precision: str) -> None:
    embedder = minilm(precision)
    queries = await embedder.embed_queries([query for query, _ in PAIRS])
    documents = await embedder.embed_documents([document for _, document in PAIRS])
    scores = queries @ documents.T
    others = scores[~np.eye(len(PAIRS), dtype=bool)]
    assert scores.diagonal().min() > others.max()


async def test_int8_vectors_do_not_depend_on_the_batch_at_all() -> None:
    embedder = minilm("int8")
    texts = [text for pair in PAIRS for text in pair] * 4
    together = await embedder.embed_documents(texts)
    alone = np.concatenate([await embedder.embed_documents([text]) for text in texts])
    assert np.array_equal(together, alone)


async def test_full_precision_equals_sentence_transformers() -> None:
    vectors = await minilm("fp32").embed_documents([PAIRS[0][1]])
    assert np.allclose(vectors[0, : len(FIRST)], FIRST, atol=1e-5)


async def test_int8_stays_near_full_precision() -> None:
    texts = [text for pair in PAIRS for text in pair]
    full = await minilm("fp32").embed_documents(texts)
    small = await minilm("int8").embed_documents(texts)
    assert np.sum(full * small, axis=1).min() > 0.98


def test_the_space_is_described() -> None:
    embedder = minilm("int8")
    assert embedder.fingerprint.model == "all-MiniLM-L6-v2"
    assert embedder.fingerprint.revision == "53aa51172d142c89"
    assert (embedder.fingerprint.dimension, embedder.max_tokens) == (384, 254)
