"""The JSON Schema takes what loads and refuses what does not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from jsonschema import Draft202012Validator
from tests.configuration.own import Shorten
from tests.configuration.test_writing import PIPELINES

from refdesk.configuration import check_pipeline, json_schema, options_of, to_data
from refdesk.configuration.describing import in_words, speakers
from refdesk.pipeline import Pipeline, Repeat, Step, When
from refdesk.steps import BUILTIN, Answer, Cite, Review, Search

PRESETS = sorted((Path(__file__).parents[2] / "src/refdesk/configuration/presets").glob("*.yaml"))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(json_schema([Shorten]))


def test_it_is_a_schema_that_json_can_hold() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    refers = {one["$ref"] for one in mappings(schema) if "$ref" in one}
    assert {f"#/$defs/{name}" for name in schema["$defs"]} == refers


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all mappings in a value."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from mappings(one)


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: file.stem)
def test_presets_are_valid(file: Path, validator: Draft202012Validator) -> None:
    validator.validate(yaml.safe_load(file.read_text("utf-8")))


@settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
    ],
    deadline=None,
    max_examples=30,
)
@given(PIPELINES)
def test_whatever_is_written_is_valid(validator: Draft202012Validator, pipeline: Pipeline) -> None:
    assume(not pipeline.problems())
    validator.validate(to_data(pipeline))


def test_own_steps_are_in_it(validator: Draft202012Validator) -> None:
    data = {"version": 1, "steps": [{"shorten": {"words": 3}}, "search", "answer"]}
    assert validator.is_valid(data)
    assert not Draft202012Validator(json_schema()).is_valid(data)


@pytest.mark.parametrize(
    "entry",
    [
        5,
        "serch",
        "when",
        {},
        {"rerank": {"keep": 0}},
        {"rerank": {"keep": "3"}},
        {"rerank": {"treshold": 3}},
        {"rerank": 5},
        {"rerank": None, "cite": None},
        {"search": {"mode": "hybird"}},
        {"search": {"collection": [1]}},
        {"answer": {"on_error": "ignore"}},
        {"answer": {"timeout": 0}},
        {"when": {"condition": "hits<3"}},
        {"when": {"condition": "hits<3", "steps": ["expnd"]}},
        {"repeat": {"until": "hits>3", "steps": ["search"], "times": 11}},
        {"screen": {"rules": [{"nam": "x"}]}},
    ],
)
def test_it_refuses_what_the_loader_refuses(entry: Any, validator: Draft202012Validator) -> None:
    data = {"version": 1, "steps": ["search", entry, "answer"]}
    assert not validator.is_valid(data)
    assert check_pipeline(data).problems


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"version": 1},
        {"version": 2, "steps": ["answer"]},
        {"version": 1, "step": []},
        {"version": 1, "steps": []},
    ],
)
def test_it_refuses_another_form(data: Any, validator: Draft202012Validator) -> None:
    assert not validator.is_valid(data)


def test_editors_find_descriptions_enums_bounds_and_defaults() -> None:
    defined = json_schema()["$defs"]
    names = {one["const"]: one["description"] for one in defined["step"]["anyOf"][0]["anyOf"]}
    assert names["search"].startswith("Search every query")
    rerank = defined["rerank-options"]["properties"]
    assert rerank["keep"]["anyOf"][0] == {"minimum": 1, "type": "integer"}
    assert rerank["on_error"]["enum"] == ["stop", "continue", "fallback"]
    assert rerank["on_error"]["default"] == "continue"
    assert "{question}" in rerank["prompt"]["anyOf"][0]["description"]
    assert "hits<3" in defined["when-options"]["properties"]["condition"]["anyOf"][0]["description"]
    assert defined["when-options"]["properties"]["steps"]["items"] == {"$ref": "#/$defs/step"}
    assert defined["when-options"]["required"] == ["condition", "steps"]


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.name)
def test_every_option_of_every_step_is_described(kind: type[Step]) -> None:
    found = options_of(kind)
    assert [one.name for one in found[-3:]] == ["on_error", "id", "timeout"]
    for one in found:
        assert one.values, one.name
        assert one.meaning, one.name


@pytest.mark.parametrize(
    ("option", "values", "default"),
    [
        ("searcher", "function, or object with a method `search`", ""),
        ("collection", "text or list of texts", ""),
        ("top_k", "whole number, at least 1", ""),
        ("mode", "`vector`, `keyword`, `hybrid`", ""),
        ("timeout", "number, above 0", ""),
        ("on_error", "`stop`, `continue`, `fallback`", "stop"),
    ],
)
def test_options_are_said_in_words(option: str, values: str, default: str) -> None:
    [found] = [one for one in options_of(Search) if one.name == option]
    assert (found.values, found.default) == (values, default)


def test_steps_and_constants_are_said_in_words() -> None:
    found = {one.name: one for one in options_of(When)}
    assert found["steps"].values == "list of steps"
    assert found["steps"].default == "required"
    assert found["condition"].values == "condition, list of conditions, or function"
    assert in_words({"const": 1}) == "`1`"
    assert in_words({"type": "number", "minimum": 0, "maximum": 1}) == "number, at least 0, at most 1"


def test_the_last_step_that_speaks_is_shown() -> None:
    answer, review, last = Answer(), Review(), Answer(id="last")
    assert list(speakers((Search(), answer, Cite()))) == [answer]
    assert list(speakers((Search(), answer, review))) == [review]
    inner = When(condition="zone=weak", steps=(Search(), answer), otherwise=(last, Cite()))
    assert list(speakers((answer, inner))) == [answer, last]
    repeat = Repeat(until="verdict=pass", steps=(answer, review))
    assert list(speakers((Search(), repeat, Cite()))) == [repeat]
    assert list(speakers((Search(),))) == []
