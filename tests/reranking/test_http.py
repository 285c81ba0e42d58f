"""Rerankers over a real socket, with servers that work and servers that do not."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from refdesk.embedding.remote import Server
from refdesk.errors import InputError, RemoteError
from refdesk.reranking.http import Cohere, HttpReranker, Tei, unsigmoid
from refdesk.reranking.names import reranker_for
from refdesk.testing.model_server import Fault, ModelServer, model_server
from refdesk.testing.rerankers import QUESTION, check_reranker, sample_hits

pytestmark = pytest.mark.anyio

KEY = "secret-key"
Rows = list[dict[str, Any]]


def overlap(question: str, text: str) -> float:
    """Return the share of the question's words in a text, and a little for length, between 0 and 1."""
    asked, said = set(question.lower().split()), set(text.lower().split())
    return 0.9 * len(asked & said) / len(asked) + 0.1 / (1 + len(text)) + 1e-6


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(scoring=overlap, tokens=128, batch=64) as server:
        yield server


def tei(model: ModelServer, **options: Any) -> HttpReranker:
    return HttpReranker(Server(url=model.url, api_key=KEY, **options), Tei(), "tei")


def cohere(model: ModelServer, **options: Any) -> HttpReranker:
    server = Server(url=f"{model.url}/v2", api_key=KEY, **options)
    return HttpReranker(server, Cohere(model="rerank-v3.5", max_tokens=500), "cohere")


def batches(model: ModelServer) -> list[int]:
    return [len(one.body.get("texts") or one.body["documents"]) for one in model.asked("/rerank")]


@pytest.mark.parametrize("make", [tei, cohere])
async def test_it_keeps_the_contract(make: Callable[[ModelServer], HttpReranker], model: ModelServer) -> None:
    model.tokens = 128 if make is tei else 500
    await check_reranker(make(model), words=400)


async def test_tei_scores_become_logits(model: ModelServer) -> None:
    ranked = await tei(model).rerank(QUESTION, sample_hits())
    for hit in ranked:
        assert hit.rerank_score == pytest.approx(unsigmoid(overlap(QUESTION, hit.chunk.text)))
    plain = HttpReranker(Server(url=model.url), Tei(logits=False), "tei")
    first = (await plain.rerank(QUESTION, sample_hits()))[0]
    assert first.rerank_score == pytest.approx(overlap(QUESTION, first.chunk.text))


@pytest.mark.parametrize(("score", "expected"), [(0.5, 0.0), (0.8807970779778823, 2.0)])
def test_a_logit_is_undone_exactly(score: float, expected: float) -> None:
    assert unsigmoid(score) == pytest.approx(expected)


@pytest.mark.parametrize("score", [0.0, 1.0, -0.0001, 1.0001])
def test_a_rounded_sigmoid_stays_finite(score: float) -> None:
    assert math.isfinite(unsigmoid(score))


@pytest.mark.parametrize("score", [0.0, 1.0, 1.0001])
async def test_a_saturated_score_is_taken(score: float, model: ModelServer) -> None:
    model.scoring = lambda question, text: score
    ranked = await tei(model).rerank(QUESTION, sample_hits())
    assert all(abs(hit.rerank_score or 0.0) > 16 for hit in ranked)


async def test_a_server_that_gives_logits_is_refused(model: ModelServer) -> None:
    model.scoring = lambda question, text: -3.2
    with pytest.raises(RemoteError, match=r"the score -3\.2, which is no sigmoid"):
        await tei(model).rerank(QUESTION, sample_hits())


@pytest.mark.parametrize("make", [tei, cohere])
async def test_many_hits_go_in_batches(make: Callable[..., HttpReranker], model: ModelServer) -> None:
    hits = sample_hits([f"text number {number}" for number in range(10)])
    whole = await make(model).rerank(QUESTION, hits)
    model.requests.clear()
    assert await make(model, batch=4).rerank(QUESTION, hits) == whole
    assert sorted(batches(model)) == [2, 4, 4]


async def test_a_server_tells_how_much_it_takes(model: ModelServer) -> None:
    model.batch = 3
    await tei(model).rerank(QUESTION, sample_hits([f"text number {number}" for number in range(7)]))
    assert sorted(batches(model)) == [1, 3, 3]


@pytest.mark.parametrize("status", [413, 422])
async def test_a_batch_that_is_too_large_is_halved(status: int, model: ModelServer) -> None:
    hits = sample_hits([f"text number {number}" for number in range(7)])
    whole = await cohere(model).rerank(QUESTION, hits)
    model.requests.clear()
    model.next = [Fault(status=status, error="too many documents")]
    assert await cohere(model).rerank(QUESTION, hits) == whole
    assert sorted(batches(model)) == [3, 4, 7]
    model.failing = {"/rerank": Fault(status=status, error="too many documents")}
    with pytest.raises(RemoteError, match="too many documents"):
        await cohere(model).rerank(QUESTION, hits)


async def test_a_server_without_info_is_taken_for_a_small_one(model: ModelServer) -> None:
    model.failing = {"/info": Fault(status=404, error="no such path")}
    model.tokens = 512
    ranked = await tei(model).rerank(QUESTION, sample_hits(["word " * 900 + "leave", "other"]))
    assert len(ranked) == 2
    assert len(model.asked("/rerank")[0].body["texts"]) > 2
    model.failing = {"/info": Fault(status=401, error="no")}
    with pytest.raises(RemoteError, match="401"):
        await tei(model).rerank(QUESTION, sample_hits())


async def test_the_name_tells_the_model_so_that_limits_of_another_do_not_hold(model: ModelServer) -> None:
    reranker = tei(model)
    await reranker.rerank(QUESTION, sample_hits())
    assert reranker.name == "tei org/model@abc"
    model.revision = "def"
    await reranker.rerank(QUESTION, sample_hits())
    assert reranker.name == "tei org/model@def"


async def test_a_busy_server_is_asked_again_when_it_says(model: ModelServer) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    model.next = [
        Fault(status=429, headers=[("Retry-After", "7")]),
        Fault(status=429, headers=[("Retry-After", "9"), ("Retry-After-Ms", "1500")]),
        Fault(status=503),
    ]
    ranked = await tei(model, sleep=sleep).rerank(QUESTION, sample_hits())
    assert len(ranked) == len(sample_hits())
    assert waited[:2] == [7.0, 1.5]
    assert len(waited) == 3


async def test_a_refused_key_is_not_repeated(model: ModelServer) -> None:
    model.next = [Fault(status=401, error=f"no {KEY}")]
    with pytest.raises(RemoteError, match="401") as caught:
        await cohere(model).rerank(QUESTION, sample_hits())
    assert KEY not in str(caught.value)
    assert not caught.value.retryable
    assert KEY not in repr(cohere(model))
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"


def doubled(rows: Rows) -> Rows:
    return [*rows, rows[0]]


def spoilt(change: Callable[[Rows], Any]) -> Callable[[Any], Any]:
    """Return what spoils the rows of either protocol."""
    return lambda answer: (
        {"results": change(answer["results"])} if isinstance(answer, dict) else change(answer)
    )


@pytest.mark.parametrize("make", [tei, cohere])
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1:],
        lambda rows: [*rows[1:], rows[1]],
        doubled,
        lambda rows: [{"index": row["index"]} for row in rows],
        lambda rows: [dict.fromkeys(row, "x") for row in rows],
        lambda rows: [{**row, "index": str(row["index"])} for row in rows],
        lambda rows: [{**row, "index": float(row["index"])} for row in rows],
        lambda rows: [{**row, "score": "0.5", "relevance_score": "0.5"} for row in rows],
        lambda rows: [{**row, "score": True, "relevance_score": True} for row in rows],
        lambda rows: None,
        lambda rows: "rows",
        lambda rows: [{**row, "score": math.nan, "relevance_score": math.nan} for row in rows],
    ],
)
async def test_unusable_answers_are_errors(
    make: Callable[..., HttpReranker], change: Callable[[Rows], Any], model: ModelServer
) -> None:
    model.failing = {"/rerank": Fault(change=spoilt(change))}
    with pytest.raises(RemoteError, match=model.url):
        await make(model).rerank(QUESTION, sample_hits())


@pytest.mark.parametrize("fault", [Fault(hang=True), Fault(drip=True)])
async def test_an_answer_that_does_not_end_is_given_up(fault: Fault, model: ModelServer) -> None:
    model.failing = {"/rerank": fault}
    with pytest.raises(RemoteError, match=r"no whole answer within 0\.2 seconds") as caught:
        await tei(model, timeout=0.2, retries=1).rerank(QUESTION, sample_hits())
    assert caught.value.retryable
    assert len(model.asked("/rerank")) == 2


async def test_a_connection_that_breaks_is_tried_again(model: ModelServer) -> None:
    whole = await tei(model).rerank(QUESTION, sample_hits())
    model.next = [Fault(), Fault(cut=True)]
    assert await tei(model).rerank(QUESTION, sample_hits()) == whole


async def test_an_endless_answer_is_not_read(model: ModelServer) -> None:
    model.failing = {"/rerank": Fault(body=b" " * 5000)}
    with pytest.raises(RemoteError, match="more than 4,096 bytes"):
        await tei(model, longest=4096).rerank(QUESTION, sample_hits())


async def test_a_server_that_is_gone_is_an_error(model: ModelServer) -> None:
    model.stop()
    with pytest.raises(RemoteError, match="could not be reached"):
        await tei(model, retries=0).rerank(QUESTION, sample_hits())


async def test_a_question_that_leaves_no_room_is_refused(model: ModelServer) -> None:
    with pytest.raises(InputError, match="maxsim"):
        await tei(model).rerank("word " * 200, sample_hits())


async def test_servers_are_used_by_name(model: ModelServer) -> None:
    environ = {"COHERE_API_KEY": KEY, "COHERE_BASE_URL": f"{model.url}/v1"}
    for name in (f"tei:{model.url}", "cohere:rerank-v3.5"):
        reranker = reranker_for(name, environ=environ)
        assert reranker is not None
        assert reranker.name == name
        assert (await reranker.rerank(QUESTION, sample_hits()))[0].rank == 1
