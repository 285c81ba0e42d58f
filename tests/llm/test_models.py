"""Model strings over a real local HTTP server that speaks OpenAI's protocol."""

import subprocess
import sys

import pytest

from refdesk.errors import InputError, LLMError, MissingExtra
from refdesk.llm import LLM, Message
from refdesk.llm.failures import scrub
from refdesk.llm.models import ModelLLM
from refdesk.llm.names import llm_for, parse_model_name
from refdesk.testing.chat_server import ServerReply, chat_server

pytestmark = pytest.mark.anyio
SECRET = "sk-test-0123456789abcdef"
QUESTION = (Message("system", "Be brief."), Message("user", "Why?"))


async def replies(llm: LLM, heard: list[str] | None = None) -> list[str]:
    heard = [] if heard is None else heard
    async for piece in llm.stream(QUESTION):
        heard.append(piece)
    return heard


def model_at(url: str, waits: list[float] | None = None, attempts: int = 3) -> ModelLLM:
    async def note(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    return ModelLLM(
        name=f"openai:tiny@{url}",
        model="tiny",
        base_url=url,
        key_variable="TEST_LLM_KEY",
        attempts=attempts,
        sleep=note,
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_LLM_KEY", SECRET)


async def test_streams_pieces_and_sends_what_was_asked() -> None:
    with chat_server(ServerReply(pieces=["Be", "cause ", "[[1]]."])) as server:
        assert await replies(model_at(server.base_url)) == ["Be", "cause ", "[[1]]."]
    assert [(m["role"], m["content"]) for m in server.requests[0]["messages"]] == [
        ("system", "Be brief."),
        ("user", "Why?"),
    ]
    assert server.requests[0]["model"] == "tiny"
    assert server.requests[0]["stream"] is True
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


async def test_characters_that_arrive_in_halves_are_whole() -> None:
    with chat_server(ServerReply(pieces=["那数据", "é — 𝒳"], split_bytes=True)) as server:
        assert "".join(await replies(model_at(server.base_url))) == "那数据é — 𝒳"


async def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    busy = ServerReply(status=429, error="slow down", headers=[("retry-after", "7")])
    waits: list[float] = []
    with chat_server(busy, busy, ServerReply(pieces=["done"])) as server:
        assert await replies(model_at(server.base_url, waits)) == ["done"]
    assert waits == [7.0, 7.0]


async def test_attempts_are_bounded() -> None:
    with chat_server(ServerReply(status=503, error="no capacity")) as server:
        with pytest.raises(LLMError, match="no capacity") as raised:
            await replies(model_at(server.base_url, [], attempts=2))
        assert len(server.requests) == 2
    assert raised.value.retryable


async def test_a_pause_of_hours_is_not_waited_for() -> None:
    waits: list[float] = []
    with chat_server(ServerReply(status=429, error="later", headers=[("retry-after", "7200")])) as server:
        with pytest.raises(LLMError, match="later"):
            await replies(model_at(server.base_url, waits))
        assert len(server.requests) == 1
    assert waits == []


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_a_rejected_request_is_not_repeated(status: int) -> None:
    with chat_server(ServerReply(status=status, error=f"bad thing {SECRET} in it")) as server:
        with pytest.raises(LLMError, match="bad thing") as raised:
            await replies(model_at(server.base_url))
        assert len(server.requests) == 1
    assert not raised.value.retryable
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("unframed", [False, True], ids=["framed", "unframed"])
async def test_a_reply_that_breaks_off_fails_and_is_not_repeated(unframed: bool) -> None:
    pieces: list[str] = []
    half = ServerReply(pieces=["Half of "], break_off=True, unframed=unframed)
    with chat_server(half, ServerReply(pieces=["other"])) as server:
        with pytest.raises(LLMError) as raised:
            await replies(model_at(server.base_url), pieces)
        assert len(server.requests) == 1
    assert pieces == ["Half of "]
    assert raised.value.retryable or unframed


async def test_a_reply_without_a_length_ends_when_the_server_says_so() -> None:
    with chat_server(ServerReply(pieces=["All of ", "it."], unframed=True)) as server:
        assert await replies(model_at(server.base_url)) == ["All of ", "it."]


async def test_a_reply_without_text_is_an_error() -> None:
    with chat_server(ServerReply(pieces=[])) as server, pytest.raises(LLMError, match="no text"):
        await replies(model_at(server.base_url))


async def test_no_server_names_the_cause() -> None:
    with pytest.raises(LLMError) as raised:
        await replies(model_at("http://127.0.0.1:9/v1", []))
    assert raised.value.retryable
    assert "server" in raised.value.remedy


async def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LLMError) as raised:
        await replies(llm_for("openai:gpt-5-mini"))
    assert "OPENAI_API_KEY" in raised.value.remedy
    assert not raised.value.retryable


@pytest.mark.parametrize(
    ("missing", "model", "extra"),
    [("pydantic_ai", "openai:gpt-5-mini", "llm"), ("anthropic", "anthropic:claude-haiku-4-5", "anthropic")],
)
async def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, missing: str, model: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra) as raised:
        await replies(llm_for(model))
    assert f"refdesk[{extra}]" in raised.value.remedy


def test_naming_a_model_imports_nothing_heavy() -> None:
    code = (
        "import sys; from refdesk.llm.names import llm_for; llm_for('openai:gpt-5-mini'); "
        "assert not {'pydantic_ai', 'openai', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(LLMError, match="nosuch:thing"):
        await replies(llm_for("nosuch:thing"))


async def test_the_key_of_openai_does_not_go_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with chat_server(ServerReply(pieces=["ok"])) as server:
        await replies(llm_for(f"openai:tiny@{server.base_url}"))
    assert SECRET not in server.headers[0]["authorization"]


async def test_a_base_url_of_the_environment_goes_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(ServerReply(pieces=["ok"])) as server:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        await replies(llm_for("openai:tiny"))
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


async def test_ollama_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(ServerReply(pieces=["ok"])) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.base_url)
        assert await replies(llm_for("ollama:llama3.2")) == ["ok"]
    assert server.requests[0]["model"] == "llama3.2"


@pytest.mark.parametrize("value", ["gpt", "", ":x", "openai:", "Open AI:x", "anthropic:x@http://host/v1"])
def test_strings_that_cannot_be_read(value: str) -> None:
    with pytest.raises(InputError) as raised:
        llm_for(value)
    assert "openai:gpt-5-mini" in raised.value.remedy


def test_the_name_holds_no_password() -> None:
    name = parse_model_name("openai:a:b@http://me:pass@host:1/v1?token=x")
    assert (name.model, name.base_url) == ("a:b", "http://me:pass@host:1/v1?token=x")
    assert str(name) == "openai:a:b@http://host:1/v1"


def test_scrub() -> None:
    assert scrub(f"key {SECRET}, Bearer abc.def, http://me:pass@host") == "key ***, ***, http://host"


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("opnai:gpt-5", "Did you mean openai:gpt-5?"),
        ("antropic:claude", "Did you mean anthropic:claude?"),
        ("openai:x@127.0.0.1:9", "Write openai:x@http://127.0.0.1:9/v1."),
        ("openai:x@localhost", "Write openai:x@http://localhost/v1."),
        ("ollama:x@gpu.example.org:8000/v1", "Write ollama:x@http://gpu.example.org:8000/v1."),
    ],
)
def test_what_was_meant(written: str, remedy: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_model_name(written)
    assert raised.value.remedy == remedy


@pytest.mark.parametrize(
    "written", ["google-gla:x", "openai-chat:x", "cohere:x", "openai:ft:x@2024", "xai:grok"]
)
def test_providers_that_only_look_alike(written: str) -> None:
    assert str(parse_model_name(written)) == written
