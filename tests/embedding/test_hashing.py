import pytest

from refdesk.embedding import TokenVectors
from refdesk.errors import InputError
from refdesk.testing import HashingEmbedder, check_embedder

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "embedder",
    [
        HashingEmbedder(),
        HashingEmbedder(dimension=16, max_tokens=8),
        HashingEmbedder(query_prefix="query: ", document_prefix="passage: "),
    ],
)
async def test_it_keeps_the_contract(embedder: HashingEmbedder) -> None:
    await check_embedder(embedder)


async def test_texts_that_share_words_are_near() -> None:
    hashing = HashingEmbedder()
    query = (await hashing.embed_queries(["days of leave"]))[0]
    near, form, far = await hashing.embed_documents(
        ["Leave: thirty days.", "Every leaver gets a daily bonus", "Erlang processes"]
    )
    assert query @ near > query @ form > query @ far


async def test_it_counts_what_it_embeds() -> None:
    hashing = HashingEmbedder(max_tokens=2)
    await hashing.embed_documents(["one", "two words"])
    assert hashing.embedded == 2
    with pytest.raises(InputError, match="Text 1 of 1 has 3 tokens; hashing takes 2"):
        await hashing.embed_documents(["three words here"])


async def test_tokens_are_words() -> None:
    tokens: TokenVectors = (await HashingEmbedder().embed_tokens(["two  words"]))[0]
    assert tokens.offsets == ((0, 3), (5, 10))


class Broken(HashingEmbedder):
    """An embedder that fails the contract in one way at a time."""

    fault = ""

    async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        if self.fault == "cut":
            texts = [" ".join(text.split()[: self.max_tokens]) for text in texts]
        vectors = await super().embed_documents(texts)
        if self.fault == "batch":
            vectors = vectors + vectors.sum() * 0.01
        if self.fault == "length":
            vectors = vectors * 2
        return vectors[::-1] if self.fault == "order" else vectors

    async def embed_queries(self, texts):  # type: ignore[no-untyped-def]
        if self.fault == "cut":
            texts = [" ".join(text.split()[: self.max_tokens]) for text in texts]
        return await super().embed_queries(texts)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("cut", "it was cut"),
        ("length", "vectors of lengths"),
        ("order", "another vector alone"),
        ("batch", "lengths|another vector alone"),
    ],
)
async def test_the_checks_find_faults(fault: str, sentence: str) -> None:
    broken = Broken()
    broken.fault = fault
    with pytest.raises(AssertionError, match=sentence):
        await check_embedder(broken)


async def test_the_checks_find_a_prefix_that_is_left_out() -> None:
    class Forgetful(HashingEmbedder):
        async def embed_queries(self, texts):  # type: ignore[no-untyped-def]
            return await self.embed_documents(texts)

    with pytest.raises(AssertionError, match="Prefixes differ"):
        await check_embedder(Forgetful(query_prefix="query: "))
