"""Rerankers over a real socket; the server knows words only and refuses what is too long for it."""

import json
import math
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from refdesk.embedding.remote import Server
from refdesk.errors import InputError, RemoteError
from refdesk.reranking.http import Cohere, HttpReranker, Tei, unsigmoid
from refdesk.reranking.names import reranker_for
from refdesk.testing import HashingEmbedder
from refdesk.testing.rerankers import QUESTION, check_reranker, sample_hits

pytestmark = pytest.mark.anyio

KEY = "secret-key"
LIMIT = 128
"""Tokens of question and text; a token is a word of at least one byte."""


class Model(ThreadingHTTPServer):
    """What the tests set and look at."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.failures: list[tuple[int, dict[str, str]]] = []
        """Status and headers of the next answers."""
        self.spoil: Callable[[list[dict[str, Any]]], Any] = lambda rows: rows
        self.batches: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_GET(self) -> None:
        self.answer(200, {"model_id": "words", "max_input_length": LIMIT})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.failures:
            status, headers = self.server.failures.pop(0)
            return self.answer(status, {"error": f"no {self.headers['Authorization']}"}, headers)
        texts = body.get("texts") or body.get("documents")
        self.server.batches.append(len(texts))
        if "texts" in body and any(len(f"{body['query']} {text}".split()) > LIMIT for text in texts):
            return self.answer(413, {"error": "`inputs` must have less than 128 tokens"})
        key = "score" if "texts" in body else "relevance_score"
        rows = [{"index": at, key: overlap(body["query"], text)} for at, text in enumerate(texts)]
        rows.sort(key=lambda row: -row[key])
        spoilt = self.server.spoil(rows)
        return self.answer(200, spoilt if "texts" in body else {"results": spoilt})

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""


def overlap(question: str, text: str) -> float:
    """Return the share of the question's words in a text, and a little for length, between 0 and 1."""
    asked, said = set(question.lower().split()), set(text.lower().split())
    return 0.9 * len(asked & said) / len(asked) + 0.1 / (1 + len(text)) + 1e-6


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def tei(model: Model, **options: Any) -> HttpReranker:
    return HttpReranker(Server(url=model.url, api_key=KEY, **options), Tei(), "tei")


def cohere(model: Model, **options: Any) -> HttpReranker:
    server = Server(url=f"{model.url}/v2", api_key=KEY, **options)
    return HttpReranker(server, Cohere(model="rerank-v3.5", max_tokens=500), "cohere")


@pytest.mark.parametrize("make", [tei, cohere])
async def test_it_keeps_the_contract(make: Callable[[Model], HttpReranker], model: Model) -> None:
    await check_reranker(make(model), words=400)


async def test_tei_scores_become_logits(model: Model) -> None:
    ranked = await tei(model).rerank(QUESTION, sample_hits())
    for hit in ranked:
        assert hit.rerank_score == pytest.approx(unsigmoid(overlap(QUESTION, hit.chunk.text)))
    plain = HttpReranker(Server(url=model.url), Tei(logits=False), "tei")
    first = (await plain.rerank(QUESTION, sample_hits()))[0]
    assert first.rerank_score == pytest.approx(overlap(QUESTION, first.chunk.text))


@pytest.mark.parametrize(("score", "expected"), [(0.5, 0.0), (0.8807970779778823, 2.0)])
def test_a_logit_is_undone_exactly(score: float, expected: float) -> None:
    assert unsigmoid(score) == pytest.approx(expected)


@pytest.mark.parametrize("score", [0.0, 1.0, -0.1, 1.1])
def test_a_rounded_sigmoid_stays_finite(score: float) -> None:
    assert math.isfinite(unsigmoid(score))


@pytest.mark.parametrize("make", [tei, cohere])
async def test_many_hits_go_in_batches(make: Callable[..., HttpReranker], model: Model) -> None:
    hits = sample_hits([f"text number {number}" for number in range(10)])
    whole = await make(model).rerank(QUESTION, hits)
    model.batches.clear()
    assert await make(model, batch=4).rerank(QUESTION, hits) == whole
    assert sorted(model.batches) == [2, 4, 4]


async def test_a_busy_server_is_asked_again_when_it_says(model: Model) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    model.failures = [(429, {"Retry-After": "7"}), (503, {})]
    ranked = await tei(model, sleep=sleep).rerank(QUESTION, sample_hits())
    assert len(ranked) == len(sample_hits())
    assert waited[0] == 7.0
    assert len(waited) == 2


async def test_a_refused_key_is_not_repeated(model: Model) -> None:
    model.failures = [(401, {})]
    with pytest.raises(RemoteError, match="401") as caught:
        await cohere(model).rerank(QUESTION, sample_hits())
    assert KEY not in str(caught.value)
    assert not caught.value.retryable
    assert KEY not in repr(cohere(model))


@pytest.mark.parametrize("make", [tei, cohere])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[1:],
        lambda rows: [*rows[1:], rows[1]],
        lambda rows: [{"index": row["index"]} for row in rows],
        lambda rows: [dict.fromkeys(row, "x") for row in rows],
        lambda rows: None,
        lambda rows: [{**row, "score": math.nan, "relevance_score": math.nan} for row in rows],
    ],
)
async def test_unusable_answers_are_errors(
    make: Callable[..., HttpReranker], spoil: Callable[[list[dict[str, Any]]], Any], model: Model
) -> None:
    model.spoil = spoil
    with pytest.raises(RemoteError, match=model.url):
        await make(model).rerank(QUESTION, sample_hits())


async def test_a_question_that_leaves_no_room_is_refused(model: Model) -> None:
    with pytest.raises(InputError, match="maxsim"):
        await tei(model).rerank("word " * 200, sample_hits())


async def test_servers_are_used_by_name(model: Model) -> None:
    environ = {"COHERE_API_KEY": KEY, "COHERE_BASE_URL": f"{model.url}/v1"}
    for name in (f"tei:{model.url}", "cohere:rerank-v3.5"):
        reranker = reranker_for(name, embedder=HashingEmbedder(), environ=environ)
        assert reranker is not None
        assert reranker.name == name
        assert (await reranker.rerank(QUESTION, sample_hits()))[0].rank == 1
