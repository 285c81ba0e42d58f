"""HTTP embedders, against servers that answer in every way that real ones do."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import numpy as np
import pytest

from refdesk.embedding.http import PROBE, HttpEmbedder, Options, connect_named, connect_openai, connect_tei
from refdesk.embedding.remote import Server, retry_seconds
from refdesk.errors import RemoteError
from refdesk.testing import HashingEmbedder, check_embedder

pytestmark = pytest.mark.anyio

KEY = "sk-secret-1234"
HASHING = HashingEmbedder(dimension=16, max_tokens=10_000)

INFO = {"model_id": "org/model", "model_sha": "abc", "model_dtype": "float16", "max_client_batch_size": 4}


def says(status: int, content: Any) -> httpx.Response:
    return httpx.Response(status, json=content)


def row(*numbers: float | None) -> dict[str, Any]:
    return {"data": [{"index": 0, "embedding": list(numbers)}]}


def vectors(texts: list[str]) -> list[list[float]]:
    """Return the hashing embedder's vectors, three times as long as unit ones."""
    return [(HASHING._text_vector(text) * 3).tolist() for text in texts]


class Fake:
    """A server that embeds by hashing; `answers` are sent before it works normally."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []
        self.limit = 100

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        if request.url.path.endswith("/info"):
            return httpx.Response(200, json=INFO | {"max_input_length": self.limit})
        return self.embed(request.url.path, json.loads(request.content))

    def embed(self, path: str, body: dict[str, Any]) -> httpx.Response:
        if path.endswith("/embed"):
            if any(len(text.encode()) > 2 * self.limit for text in body["inputs"]):
                return httpx.Response(413, json={"error": "inputs must have less than 100 tokens"})
            return httpx.Response(200, json=vectors(body["inputs"]))
        rows = [{"index": index, "embedding": row} for index, row in enumerate(vectors(body["input"]))]
        return httpx.Response(200, json={"data": rows[::-1], "usage": {}})

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def server(self, **options: Any) -> Server:
        chosen: dict[str, Any] = {"url": "http://host/v1/", "api_key": KEY, "retries": 3} | options
        return Server(**chosen, transport=httpx.MockTransport(self), sleep=self.sleep)

    @property
    def texts(self) -> list[list[str]]:
        bodies = [json.loads(request.content) for request in self.requests if request.content]
        return [body.get("input") or body.get("inputs") for body in bodies]


async def openai(fake: Fake, options: Options = Options(max_tokens=80), **server: Any) -> HttpEmbedder:  # noqa: B008
    return await connect_openai(fake.server(**server), "embed-3", options)


async def failure(*answers: httpx.Response | Exception, **server: Any) -> RemoteError:
    with pytest.raises(RemoteError) as raised:
        await openai(Fake(*answers), **server)
    return raised.value


async def test_openai_keeps_the_contract() -> None:
    await check_embedder(await openai(Fake()))


async def test_tei_keeps_the_contract() -> None:
    await check_embedder(await connect_tei(Fake().server(url="http://host")))


async def test_prefixes_are_sent() -> None:
    fake = Fake()
    embedder = await openai(fake, Options(query_prefix="query: ", document_prefix="passage: "))
    await embedder.embed_queries(["a"])
    await embedder.embed_documents(["b"])
    assert fake.texts[1:] == [["query: a"], ["passage: b"]]
    assert embedder.max_tokens == 8191 - 5
    await check_embedder(await openai(Fake(), Options(query_prefix="query: ", document_prefix="passage: ")))


async def test_what_is_sent_to_openai() -> None:
    fake = Fake()
    await openai(fake)
    (request,) = fake.requests
    assert str(request.url) == "http://host/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert json.loads(request.content) == {
        "model": "embed-3",
        "input": [PROBE],
        "encoding_format": "float",
    }


async def test_a_call_is_split_into_batches_in_order() -> None:
    fake = Fake()
    embedder = await openai(fake, batch=3)
    texts = [f"text {number}" for number in range(8)]
    found = await embedder.embed_documents(texts)
    assert sorted(len(batch) for batch in fake.texts[1:]) == [2, 3, 3]
    assert np.allclose(found, np.array(vectors(texts)) / 3, atol=1e-5)


async def test_tei_tells_its_name_and_limits() -> None:
    fake = Fake()
    embedder = await connect_tei(fake.server())
    space = embedder.fingerprint
    assert (space.model, space.revision, space.precision, space.dimension) == (
        "org/model",
        "abc",
        "float16",
        16,
    )
    assert embedder.max_tokens == 98
    await embedder.embed_documents(["x"] * 10)
    assert sorted(len(batch) for batch in fake.texts[1:]) == [2, 4, 4]
    assert all(json.loads(request.content)["truncate"] is False for request in fake.requests[1:])


async def test_a_long_document_is_refused_by_the_server_with_its_words() -> None:
    embedder = await connect_tei(Fake().server())
    with pytest.raises(RemoteError, match=r"answered 413: inputs must have less.* Use smaller chunks"):
        await embedder.embed_documents(["long " * 200])
    assert (await embedder.embed_queries(["long " * 200])).shape == (1, 16)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    fake = Fake(httpx.Response(status), httpx.ConnectError("refused"), httpx.ReadTimeout("slow"))
    assert (await openai(fake)).fingerprint.dimension == 16
    assert len(fake.slept) == 3
    assert all(0.1 <= seconds <= 2.0 for seconds in fake.slept)


async def test_the_server_says_how_long_to_wait() -> None:
    fake = Fake(httpx.Response(429, headers={"Retry-After": "7"}))
    await openai(fake)
    assert fake.slept == [7.0]


async def test_a_wait_beyond_the_limit_is_not_waited_for() -> None:
    fake = Fake(httpx.Response(429, headers={"Retry-After": "3600"}, json={"error": {"message": "quota"}}))
    with pytest.raises(RemoteError, match="answered 429: quota") as raised:
        await openai(fake)
    assert raised.value.retryable
    assert fake.slept == []


async def test_tries_are_bounded() -> None:
    fake = Fake(*[httpx.Response(503, text="overloaded")] * 9)
    with pytest.raises(RemoteError, match="answered 503: overloaded"):
        await openai(fake)
    assert len(fake.requests) == 4


async def test_an_unreachable_server_is_named() -> None:
    error = await failure(*[httpx.ConnectError("no route to host")] * 9)
    assert "http://host/v1/embeddings could not be reached: ConnectError no route to host." in str(error)
    assert isinstance(error.__cause__, httpx.ConnectError)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (says(401, {"error": {"message": f"bad key {KEY}"}}), r"401: bad key \*\*\* Check the API key"),
        (says(404, {"error": "no such model"}), "404: no such model Check the URL"),
        (says(400, {"message": "too long"}), "400: too long"),
        (says(422, ["odd"]), r"422: \['odd'\]"),
        (httpx.Response(200, text="<html>"), "something that is not JSON: '<html>'"),
        (says(200, {"choices": []}), r"gave no embeddings for the model 'embed-3' .* embedding model"),
        (says(200, {"data": []}), r"answered 1 texts with an array of shape \(0,\)"),
        (says(200, row()), r"array of shape \(1, 0\)"),
        (says(200, {"data": [{"index": 0, "embedding": "AAA="}]}), "no numbers"),
        (says(200, row(0.0, 0.0)), "zero or not finite"),
        (says(200, row(None)), "no numbers"),
        (says(200, {"data": [{"index": 0, "embedding": ["1.0", "2.0"]}]}), "no numbers"),
        (httpx.Response(200, text='{"data": [{"index": 0, "embedding": [1.0, NaN]}]}'), "not finite"),
        (httpx.Response(200, text='{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}'), "not finite"),
    ],
)
async def test_a_wrong_answer_gives_its_cause_at_once(response: httpx.Response, message: str) -> None:
    fake = Fake(response)
    with pytest.raises(RemoteError, match=message) as raised:
        await openai(fake)
    assert not raised.value.retryable
    assert KEY not in str(raised.value)
    assert fake.slept == []


async def test_another_dimension_than_before_is_refused() -> None:
    fake = Fake()
    embedder = await openai(fake)
    fake.answers = [httpx.Response(200, json={"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    with pytest.raises(
        RemoteError, match=r"2 dimensions; the model gave 16 before.*embed the collection again"
    ):
        await embedder.embed_documents(["x"])


async def test_rows_of_unequal_length_are_refused() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]
    assert "unequal length" in str(await failure(httpx.Response(200, json={"data": rows})))


async def test_one_failed_batch_fails_the_call_with_its_own_error() -> None:
    fake = Fake()
    embedder = await openai(fake, batch=1)
    fake.answers = [httpx.Response(400, json={"error": "first"})]
    with pytest.raises(RemoteError, match="400: first"):
        await embedder.embed_documents(["a", "b", "c"])


async def test_a_tei_server_without_limits_is_refused() -> None:
    with pytest.raises(RemoteError, match="/info gives no usable 'max_input_length'"):
        await connect_tei(Fake(httpx.Response(200, json={"model_id": "m"})).server())


async def test_the_key_is_shown_nowhere() -> None:
    fake = Fake()
    embedder = await openai(fake)
    assert KEY not in repr(embedder) + repr(fake.server()) + str(embedder.fingerprint)


async def test_a_key_that_no_header_can_carry_is_refused_and_not_shown() -> None:
    for key in ("s3cret\nx", "s3cret\xe9"):
        error = await failure(api_key=key)
        assert "API key for http://host/v1/" in str(error)
        assert "s3cret" not in str(error)


async def test_the_query_of_an_address_is_sent_after_the_path() -> None:
    fake = Fake()
    await openai(fake, url="http://host/v1?version=7")
    assert str(fake.requests[0].url) == "http://host/v1/embeddings?version=7"


async def test_an_answer_that_is_nested_too_deeply_is_an_error() -> None:
    for status in (200, 400):
        await failure(httpx.Response(status, text="[" * 100_000))


async def test_a_url_that_is_none_is_not_tried_again() -> None:
    with pytest.raises(RemoteError, match="could not be reached: UnsupportedProtocol") as raised:
        await connect_tei(Server(url="localhost:80"))
    assert not raised.value.retryable


def test_names_connect_without_an_event_loop() -> None:
    fake = Fake()
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://mine/v1"}
    embedder = connect_named("openai", "m", Options(), environ, httpx.MockTransport(fake))
    assert str(fake.requests[0].url) == "http://mine/v1/embeddings"
    assert embedder.fingerprint.model == "m"
    tei = connect_named("tei", "http://tei:80", Options(), {}, httpx.MockTransport(fake))
    assert tei.fingerprint.model == "org/model"


def test_a_retry_date_is_read() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (retry_seconds(soon) or 0) <= 90
    assert retry_seconds(format_datetime(datetime.now(UTC) - timedelta(days=1))) == 0.0
    assert retry_seconds("soon") is None
    assert retry_seconds("\xb2") is None
    assert retry_seconds(None) is None
