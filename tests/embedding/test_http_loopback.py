"""Embedders over a real socket, with servers that work and servers that do not."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio
import numpy as np
import pytest

from refdesk.embedding.http import PROBE, PROBE_SECONDS, HttpEmbedder, connect_openai, connect_tei
from refdesk.embedding.names import embedder_for, open_embedder
from refdesk.embedding.remote import Server
from refdesk.errors import EmbeddingMismatch, RemoteError
from refdesk.testing import HashingEmbedder, check_embedder
from refdesk.testing.model_server import Fault, ModelServer, model_server

pytestmark = pytest.mark.anyio

KEY = "sk-secret"
TEXTS = [f"text number {number}" for number in range(7)]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


async def tei(model: ModelServer, **options: Any) -> HttpEmbedder:
    return await connect_tei(Server(url=model.url, api_key=KEY, **options))


async def openai(model: ModelServer, **options: Any) -> HttpEmbedder:
    return await connect_openai(Server(url=f"{model.url}/v1", api_key=KEY, **options), "letters")


MAKES = pytest.mark.parametrize("make", [tei, openai])
Make = Callable[..., Any]


def batches(model: ModelServer) -> list[int]:
    asked = [one.body.get("inputs") or one.body["input"] for one in model.requests if one.body]
    return [len(texts) for texts in asked if texts != [PROBE]]


@MAKES
async def test_it_keeps_the_contract(make: Make, model: ModelServer) -> None:
    model.tokens, model.batch = 20_000, 2048
    await check_embedder(await make(model))


async def test_servers_are_used_by_name(model: ModelServer) -> None:
    environ = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": KEY, "TEI_API_KEY": KEY}
    expected = await HashingEmbedder().embed_documents(TEXTS)
    for name in ("openai:letters", f"tei:{model.url}"):
        sync = await anyio.to_thread.run_sync(partial(embedder_for, name, environ=environ))
        for embedder in (sync, await open_embedder(name, environ=environ)):
            assert np.allclose(await embedder.embed_documents(TEXTS), expected, atol=1e-6)
            assert embedder.fingerprint.remote
            assert KEY not in repr(embedder)
    assert all(one.headers["authorization"] == f"Bearer {KEY}" for one in model.requests)


async def test_an_error_page_that_is_not_utf8_is_reported(model: ModelServer) -> None:
    page = "Passerelle indisponible : r\xe9essayez".encode("latin-1")
    model.failing = {"/embeddings": Fault(status=502, body=page)}
    with pytest.raises(RemoteError, match="answered 502: Passerelle indisponible") as caught:
        await openai(model, retries=0)
    assert caught.value.retryable
    assert caught.value.status == 502


@pytest.mark.parametrize("status", [400, 413, 422])
@MAKES
async def test_a_batch_that_is_too_large_is_halved(make: Make, status: int, model: ModelServer) -> None:
    embedder = await make(model)
    whole = await embedder.embed_documents(TEXTS)
    model.requests.clear()
    model.next = [Fault(status=status, error="too many")]
    assert np.allclose(await embedder.embed_documents(TEXTS), whole)
    assert batches(model) == [7, 4, 3]
    model.requests.clear()
    await embedder.embed_documents(TEXTS)
    assert sorted(batches(model)) == [3, 4]


async def test_what_one_server_takes_is_learned(model: ModelServer) -> None:
    model.batch = 2
    embedder = await openai(model)
    expected = await HashingEmbedder().embed_documents(TEXTS)
    assert np.allclose(await embedder.embed_documents(TEXTS), expected, atol=1e-6)
    model.requests.clear()
    await embedder.embed_documents(TEXTS)
    assert sorted(batches(model)) == [1, 2, 2, 2]


async def test_a_text_that_is_too_long_is_refused_after_the_batch_was_halved(model: ModelServer) -> None:
    embedder = await tei(model)
    model.tokens = 3
    with pytest.raises(RemoteError, match=r"answered 413: `inputs` must have less than 3 tokens") as caught:
        await embedder.embed_documents(["one", "two", "one two three four"])
    assert not caught.value.retryable


def of(change: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    """Return what spoils the rows of either protocol."""
    return lambda answer: {"data": change(answer["data"])} if isinstance(answer, dict) else change(answer)


def first(value: Any) -> Callable[[list[Any]], Any]:
    """Return what puts a value into the place of a vector's first number."""

    def change(rows: list[Any]) -> list[Any]:
        row = rows[0]
        if isinstance(row, dict):
            return [{**row, "embedding": [value, *row["embedding"][1:]]}, *rows[1:]]
        return [[value, *row[1:]], *rows[1:]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1:],
        lambda rows: [*rows, rows[0]],
        lambda rows: None,
        lambda rows: [],
        lambda rows: "rows",
        first(math.nan),
        first(math.inf),
        first(None),
        first("0.5"),
        first(10**400),
        first([1.0]),
    ],
)
@MAKES
async def test_unusable_vectors_are_errors(
    make: Make, change: Callable[[Any], Any], model: ModelServer
) -> None:
    embedder = await make(model)
    end = "/embed" if make is tei else "/embeddings"
    model.failing = {end: Fault(change=of(change))}
    with pytest.raises(RemoteError, match=model.url):
        await embedder.embed_documents(TEXTS)


@pytest.mark.parametrize(
    "places", [lambda n: [0] * n, lambda n: [*range(1, n + 1)], lambda n: [str(one) for one in range(n)]]
)
async def test_places_that_are_not_those_of_the_texts_are_errors(
    places: Callable[[int], list[Any]], model: ModelServer
) -> None:
    def change(answer: Any) -> Any:
        rows, numbers = answer["data"], places(len(answer["data"]))
        return {"data": [{**row, "index": number} for row, number in zip(rows, numbers, strict=True)]}

    embedder = await openai(model)
    model.failing = {"/embeddings": Fault(change=change)}
    with pytest.raises(RemoteError, match="no embeddings"):
        await embedder.embed_documents(TEXTS)


@pytest.mark.parametrize("value", [1e30, 1e300, 1e-30])
async def test_lengths_beyond_single_precision_are_no_trouble(value: float, model: ModelServer) -> None:
    embedder = await tei(model)
    expected = await embedder.embed_documents(TEXTS)
    scaled = Fault(change=lambda rows: [[number * value for number in row] for row in rows])
    model.failing = {"/embed": scaled}
    found = await embedder.embed_documents(TEXTS)
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("fault", [Fault(hang=True), Fault(drip=True)])
@MAKES
async def test_an_answer_that_does_not_end_is_given_up(make: Make, fault: Fault, model: ModelServer) -> None:
    embedder = await make(model, timeout=0.2, retries=1)
    model.failing = {"/embed": fault, "/embeddings": fault}
    model.requests.clear()
    with pytest.raises(RemoteError, match=r"no whole answer within 0\.2 seconds") as caught:
        await embedder.embed_queries(["a"])
    assert caught.value.retryable
    assert len(model.requests) == 2


@MAKES
async def test_a_connection_that_breaks_is_tried_again(make: Make, model: ModelServer) -> None:
    embedder = await make(model)
    whole = await embedder.embed_documents(TEXTS)
    model.next = [Fault(cut=True), Fault(status=424, error="backend")]
    assert np.allclose(await embedder.embed_documents(TEXTS), whole)


async def test_garbage_is_an_error_at_once(model: ModelServer) -> None:
    embedder = await tei(model)
    model.requests.clear()
    model.failing = {"/embed": Fault(body=b"<html>Please log in</html>")}
    with pytest.raises(RemoteError, match="not JSON: '<html>Please log in"):
        await embedder.embed_documents(TEXTS)
    assert len(model.requests) == 1


class Clock:
    """A clock that a test turns on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_another_model_behind_the_address_is_noticed_while_it_runs(model: ModelServer) -> None:
    clock = Clock()
    embedder = await openai(model, clock=clock)
    await embedder.embed_documents(TEXTS)
    clock.now += PROBE_SECONDS + 1
    model.requests.clear()
    assert (await embedder.embed_documents(TEXTS)).shape == (7, 64)
    assert model.requests[0].body["input"][0] == PROBE
    await embedder.embed_documents(TEXTS)
    assert PROBE not in model.requests[-1].body["input"]
    model.embedder = HashingEmbedder(query_prefix="another model altogether, trained on other data ")
    await embedder.embed_queries(["not yet noticed"])
    clock.now += PROBE_SECONDS + 1
    for _ in range(2):
        with pytest.raises(EmbeddingMismatch, match=r"has changed: a fixed text's vector has the cosine 0\."):
            await embedder.embed_queries(["a"])


async def test_another_dimension_is_noticed_at_once(model: ModelServer) -> None:
    embedder = await tei(model)
    model.embedder = HashingEmbedder(dimension=32)
    with pytest.raises(RemoteError, match="32 dimensions; the model gave 64 before"):
        await embedder.embed_queries(["a"])
