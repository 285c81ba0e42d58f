"""Addresses in messages hold no secrets, in whatever form a user wrote them."""

from functools import partial

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.addresses import secrets_of, with_path, without_user, without_users
from refdesk.embedding.http import Options, connect_named, connect_openai, connect_tei
from refdesk.embedding.names import embedder_for
from refdesk.embedding.remote import Server
from refdesk.errors import InputError, RefdeskError
from refdesk.llm.failures import scrub
from refdesk.llm.models import ModelLLM
from refdesk.llm.names import llm_for, parse_model_name
from refdesk.reranking.http import HttpReranker, Tei
from refdesk.reranking.names import reranker_for
from refdesk.testing import HashingEmbedder
from refdesk.testing.rerankers import QUESTION, sample_hits

SECRET = "s3cret"
ADDRESSES = [
    f"http://user:{SECRET}@host:80/v1",
    f"http://{SECRET}@host",
    f"https://user:{SECRET}@host/v1?api_key={SECRET}",
    f"https://host/v1?api_key={SECRET}#part",
    f"https://host/v1?a=b&key={SECRET}",
    f"https://host#{SECRET}",
    f"http://user:a/{SECRET}@host",
    f"http://user:a?{SECRET}@host",
    f"http://user:a#{SECRET}@host",
    f"http://user:1@{SECRET}@host",
    f"http://user:{SECRET}@[::1]:80/v1",
    f"http://user:{SECRET}@[bad",
    f"http://user:{SECRET}@host:port",
    f"user:{SECRET}@host",
]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://host:80/v1", "http://host:80/v1"),
        ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ("http://host/@cf/model", "http://host/@cf/model"),
        ("http://host:80/@cf/model", "http://host:80/@cf/model"),
        ("localhost:80", "localhost:80"),
        ("", ""),
        ("http://me:pass@host:1/v1?token=x#y", "http://host:1/v1"),
    ],
)
def test_what_is_left_of_an_address(url: str, shown: str) -> None:
    assert without_user(url) == shown


def test_only_addresses_in_a_text_are_changed() -> None:
    assert (
        without_users("org/model@4 at http://u:p@host/x?k=1 and a?b")
        == "org/model@4 at http://host/x and a?b"
    )


def test_a_path_goes_before_the_query() -> None:
    assert with_path("http://host/v1/?key=x", "/embed") == "http://host/v1/embed?key=x"


def test_secrets_are_found_in_parts() -> None:
    assert {"me:pass%40word", "pass%40word", "pass@word", "key=abcd&x=1", "abcd"} <= set(
        secrets_of("http://me:pass%40word@host/v1?key=abcd&x=1")
    )
    assert secrets_of("http://host/v1") == ()


WORD = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9)


@given(user=WORD, host=WORD, key=WORD)
def test_user_and_query_never_show(user: str, host: str, key: str) -> None:
    secret = f"{user}-{SECRET}"
    url = f"https://{user}:{secret}@{host}/v1?{key}={secret}"
    assert without_user(url) == without_users(url) == f"https://{host}/v1"
    assert secret in secrets_of(url)


def echo(request: httpx.Request) -> httpx.Response:
    return httpx.Response(400, json={"error": f"cannot use {request.url} {request.headers}"})


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError(f"{request.url} refused")


def odd(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, text=f"<html>{request.url}")


def said_by(error: BaseException | None) -> str:
    return f"{error} {error!r} {getattr(error, 'remedy', '')}"


@pytest.mark.parametrize("url", ADDRESSES[:-1])
@pytest.mark.parametrize(
    "server", [echo, refuse, odd, lambda request: httpx.Response(200, json={"data": []})]
)
def test_errors_of_embedders_hold_no_secret(url: str, server: object) -> None:
    once = Server(url=url, api_key="key", retries=0, transport=httpx.MockTransport(server))  # type: ignore[arg-type]
    for connect in (connect_tei, partial(connect_openai, model="m")):
        with pytest.raises(RefdeskError) as caught:
            anyio.run(connect, once)
        assert SECRET not in said_by(caught.value)
    with pytest.raises(RefdeskError) as caught:
        anyio.run(HttpReranker(once, Tei(), "tei").rerank, QUESTION, sample_hits())
    assert SECRET not in said_by(caught.value)


def embed(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("/info"):
        return httpx.Response(200, json={"model_id": ADDRESSES[2], "max_input_length": 9})
    rows = [[1.0, 2.0]]
    openai = request.url.path.endswith("/embeddings")
    return httpx.Response(200, json={"data": [{"index": 0, "embedding": rows[0]}]} if openai else rows)


@pytest.mark.parametrize("url", ADDRESSES[:5])
def test_what_an_embedder_shows_holds_no_secret(url: str) -> None:
    transport = httpx.MockTransport(embed)
    for embedder in (
        connect_named("tei", url, Options(), {}, transport),
        connect_named("openai", f"m@{url}", Options(), {"OPENAI_BASE_URL": url}, transport),
    ):
        assert SECRET not in f"{embedder!r} {embedder} {embedder.fingerprint!r} {embedder.fingerprint}"
        assert "host" in repr(embedder)


@pytest.mark.parametrize("url", ADDRESSES)
def test_names_and_representations_hold_no_secret(url: str) -> None:
    server = Server(url=url, api_key=SECRET)
    reranker = HttpReranker(server, Tei(), f"tei:{url}")
    named = reranker_for(f"tei:{url}", embedder=HashingEmbedder(), environ={})
    assert named is not None
    llm = ModelLLM(name=f"openai:m@{url}", model="m", base_url=url)
    for shown in (server, reranker, reranker.name, named.name, named, llm):
        if "://" in url:
            assert SECRET not in f"{shown!r} {shown}"
    assert SECRET not in repr(server)


def test_an_address_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(InputError, match=r"'http://\[bad' cannot be read"):
        llm_for("openai:m@http://user:s3cret@[bad")


@pytest.mark.parametrize("url", [url for url in ADDRESSES if "://" in url])
def test_model_strings_show_no_secret(url: str) -> None:
    name = parse_model_name(f"openai:m@{url}")
    assert SECRET not in f"{name} {name!r} {llm_for(url)!r} {scrub(url)}"
    assert name.base_url == url
    for value in (f"anthropic:m@{url}", f"m@{url}", f"OpenAI:m@{url}"):
        with pytest.raises(RefdeskError) as caught:
            llm_for(value)
        assert SECRET not in said_by(caught.value)
    for call in (embedder_for, lambda text: reranker_for(text, embedder=HashingEmbedder())):
        with pytest.raises(RefdeskError) as caught:
            call(f"te1:{url}")
        assert SECRET not in said_by(caught.value)
