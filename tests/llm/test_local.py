"""Models in this process: what is missing is named, and a real small model replies."""

import sys
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from refdesk.context import Usage
from refdesk.embedding.names import embedder_for
from refdesk.errors import ContextTooLong, InputError, MissingExtra, ModelError
from refdesk.llm import LLM, Message, Options
from refdesk.llm.asking import ask_for
from refdesk.llm.local import LocalLLM, gguf, stop_servers
from refdesk.llm.names import llm_for
from refdesk.models.catalog import SMOLLM2

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Be brief."), Message("user", "What is the capital of France?"))


async def reply_of(llm: LLM, options: Options) -> str:
    return "".join([piece async for piece in llm.stream(QUESTION, options)])


def test_strings_name_files_and_models(tmp_path: Path) -> None:
    llm = llm_for("local:/models/a b.gguf", cache=tmp_path)
    assert llm == LocalLLM(model="/models/a b.gguf", cache=tmp_path)
    assert llm.name == "local:/models/a b.gguf"


async def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra) as raised:
        await reply_of(llm_for("local:smollm2"), Options())
    assert "refdesk[local]" in raised.value.remedy


def test_a_model_that_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        gguf("smollm2", cache=tmp_path)
    assert raised.value.remedy == f"Run: refdesk models pull {SMOLLM2.name}."
    for model in ("smollm3", "minilm", str(tmp_path)):
        with pytest.raises(ModelError, match=SMOLLM2.name):
            gguf(model, cache=tmp_path)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelError, match="no GGUF"):
        gguf(str(tmp_path / "model.gguf"))


def test_a_language_model_embeds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="language model") as raised:
        embedder_for("smollm2", cache=tmp_path)
    assert "local:smollm2" in raised.value.remedy


@pytest.mark.parametrize("variable", ["REFDESK_LOCAL_THREADS", "REFDESK_LOCAL_WINDOW"])
async def test_variables_that_are_no_numbers(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", sys)
    for value in ("many", "0", "-1", "²"):
        monkeypatch.setenv(variable, value)
        with pytest.raises(InputError, match=variable):
            await reply_of(llm_for("local:smollm2"), Options())


@pytest.mark.local
async def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(gguf("smollm2").read_bytes()[:100_000])
    with pytest.raises(ModelError, match="cannot load"):
        await reply_of(LocalLLM(model=str(tmp_path / "model.gguf")), Options())


@pytest.mark.local
async def test_a_small_model_replies_and_tells_its_usage() -> None:
    told: list[Usage] = []
    llm = llm_for("local:smollm2")
    said = await reply_of(llm, Options(max_tokens=12, temperature=0.0, on_usage=told.append))
    assert "Paris" in said
    [usage] = told
    assert usage.input_tokens > 10
    assert 0 < usage.output_tokens <= 12
    assert usage.cost == 0
    stop_servers()
    assert await reply_of(llm, Options(max_tokens=12, temperature=0.0)) == said


@dataclass(frozen=True, slots=True)
class Capital:
    name: str
    in_europe: bool


@pytest.mark.local
async def test_a_small_model_is_held_to_a_schema() -> None:
    asked = (Message("user", "Name the capital of France, as JSON with name and in_europe."),)
    found = await ask_for(Capital, llm_for("local:smollm2"), asked, Options(max_tokens=60, temperature=0.0))
    assert isinstance(found.in_europe, bool)


@pytest.mark.local
async def test_a_prompt_beyond_the_window() -> None:
    asked = (Message("user", "word " * 600),)
    with pytest.raises(ContextTooLong):
        async with aclosing(LocalLLM(model="smollm2", window=512).stream(asked)) as pieces:
            await anext(pieces)


@pytest.mark.local
async def test_a_reply_that_is_given_up_frees_the_model() -> None:
    llm = llm_for("local:smollm2")
    async with aclosing(
        llm.stream((Message("user", "Tell a long story."),), Options(max_tokens=8000))
    ) as pieces:
        await anext(pieces)
    assert await reply_of(llm, Options(max_tokens=2))
