"""Pipelines back to text, and from there to equal pipelines."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.configuration.own import Upper

from refdesk.configuration import json_schema, pipeline_from_text, to_data, to_yaml
from refdesk.configuration.building import step_fields
from refdesk.configuration.describing import options_schema
from refdesk.errors import InputError
from refdesk.pipeline import Pipeline, Step, When
from refdesk.pipeline.options import adapter
from refdesk.screening import Rule
from refdesk.steps import BUILTIN, Answer, Cite, Expand, Rerank, Rewrite, Screen, Search

SPECIAL = ["no", "1e3", "0x1f", "~", "12:30", "a: b", " x\n\n y\n", "012", "=", "<<", "a\u2028b", "x #y", "-"]
TEXTS = st.text(max_size=20) | st.sampled_from(SPECIAL)
RULES = st.fixed_dictionaries({"id": TEXTS}, optional={"any_of": st.lists(TEXTS), "reply": TEXTS})
MODELS = st.sampled_from([None, "openai:gpt-5-mini", "openai:own@http://127.0.0.1:8000/v1"])
FIXED: Mapping[str, st.SearchStrategy[Any]] = {
    "condition": st.sampled_from(["hits<3", "zone=weak", ["hits<3", "zone!=ok"]]),
    "until": st.sampled_from(["verdict=pass", ["grounding>0.5", "answered=true"]]),
    "prompt": st.sampled_from([None, "Short:\n\n  {question}\n", "Say: {question}"]),
    "llm": MODELS,
    "controller_llm": MODELS,
    "answer_llm": MODELS,
    "tools": st.sampled_from([["search", "answer"], ["search", "read", "give_up"]]),
    "search_opts": st.sampled_from([None, {"mode": "keyword", "rerank": False}]),
    "system_prompt": st.sampled_from([None, "Search {collections}, {max_iterations} times."]),
    "answer_prompt": st.sampled_from([None, "Shorter: {draft}"]),
    "synthesis_prompt": st.sampled_from([None, "Answer {question}"]),
    "reranker": st.sampled_from([None, "llm", "maxsim"]),
    "grounder": st.sampled_from(["lexical", "judge"]),
    "screen rules": st.lists(RULES, max_size=2),
}
"""Options whose texts have a form of their own."""


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a JSON Schema allows."""
    if choices := schema.get("anyOf"):
        return st.one_of(*(values(one) for one in choices if one.get("type") != "object"))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    low, high = schema.get("minimum"), schema.get("maximum")
    match schema["type"]:
        case "integer":
            return st.integers(low, high)
        case "number":
            above = schema.get("exclusiveMinimum")
            return st.floats(
                low if above is None else above,
                high,
                exclude_min=above is not None,
                allow_nan=False,
                allow_infinity=False,
            )
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return st.lists(values(schema["items"]), max_size=3)
    least = schema.get("minLength", 0)
    return TEXTS.filter(lambda text: len(text) >= least) if least else TEXTS


def of_kind(kind: type[Step], inner: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    """Return steps of a class with any options that files can give."""
    schema = options_schema(kind)
    every: dict[str, st.SearchStrategy[Any]] = {}
    for name, one in schema["properties"].items():
        if name in step_fields(kind):
            every[name] = st.lists(inner, min_size=1, max_size=2)
        elif (fixed := FIXED.get(f"{kind.name} {name}", FIXED.get(name))) is not None:
            every[name] = fixed
        elif name not in (kind.worker, "searcher", "search_fn", "synthesizer"):
            every[name] = values(one)
    required = {name: every[name] for name in schema.get("required", ())}
    optional = {name: one for name, one in every.items() if name not in required}
    built = st.fixed_dictionaries(required, optional=optional).map(adapter(kind).validate_python)
    return built.filter(lambda step: not list(step.problems()))


KINDS = [kind for kind in BUILTIN if kind.kind != "control"]
SIMPLE = st.one_of(*(of_kind(kind, st.nothing()) for kind in KINDS))
CONTROL = [kind for kind in BUILTIN if kind.kind == "control"]
STEPS = st.one_of(SIMPLE, *(of_kind(kind, SIMPLE) for kind in CONTROL))
PIPELINES = st.lists(STEPS, max_size=4).map(lambda steps: Pipeline((Search(), *steps, Answer())))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(PIPELINES)
def test_a_pipeline_survives_its_text(pipeline: Pipeline) -> None:
    assume(not pipeline.problems())
    text = to_yaml(pipeline)
    again = pipeline_from_text(text)
    assert again == pipeline
    assert to_yaml(again) == text


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.name)
def test_every_step_is_generated_with_options(kind: type[Step]) -> None:
    """The property above sees each step with something to write."""

    @settings(max_examples=20, database=None, deadline=None)
    @given(of_kind(kind, SIMPLE))
    def options(step: Step) -> None:
        [entry] = to_data(Pipeline((step,)))["steps"]
        seen.add(type(entry))

    seen: set[type] = set()
    options()
    assert dict in seen


def test_only_what_differs_is_written_and_long_texts_keep_their_lines() -> None:
    pipeline = Pipeline(
        (
            Rewrite(prompt="Shorten this:\n{question}\n", hits=5),
            Search(top_k=5, collection=("faq", "no")),
            When(condition="hits<3", steps=(Expand(), Search())),
            Rerank(threshold=7),
            Answer(llm="openai:gpt-5-mini", on_error="stop"),
            Cite(),
        ),
        name="own",
    )
    assert to_yaml(pipeline) == (
        "version: 1\n"
        "name: own\n"
        "steps:\n"
        "- rewrite:\n"
        "    prompt: |\n"
        "      Shorten this:\n"
        "      {question}\n"
        "- search:\n"
        "    collection:\n"
        "    - faq\n"
        "    - 'no'\n"
        "    top_k: 5\n"
        "- when:\n"
        "    condition: hits<3\n"
        "    steps:\n"
        "    - expand\n"
        "    - search\n"
        "- rerank:\n"
        "    threshold: 7\n"
        "- answer:\n"
        "    llm: openai:gpt-5-mini\n"
        "- cite\n"
    )
    assert yaml.safe_load(to_yaml(pipeline)) == to_data(pipeline)


def test_rules_are_written_as_mappings() -> None:
    pipeline = Screen(rules=(Rule(id="pay", any_of=("salary", "wage")),)) | Search() | Answer()
    assert to_data(pipeline)["steps"][0] == {
        "screen": {"rules": [{"id": "pay", "any_of": ["salary", "wage"]}]}
    }
    assert pipeline_from_text(to_yaml(pipeline)) == pipeline


@pytest.mark.parametrize(
    ("step", "option"),
    [
        (Rewrite(rewriter=str.upper), "'rewriter' of the step 'rewrite'"),
        (Rewrite(rewriter=(Upper, {"suffix": "!"})), "'rewriter' of the step 'rewrite'"),
        (
            Rewrite(prompt=lambda question: question, id="short"),
            "'prompt' of the step 'short'",
        ),
        (Answer(llm=lambda prompt: "Yes."), "'llm' of the step 'answer'"),
        (When(condition=lambda context: True, steps=(Answer(),)), "'condition' of the step 'when'"),
        (When(condition="hits<3", steps=(Answer(llm=len),)), "'llm' of the step 'answer'"),
        (Rerank(threshold=float("nan")), "'threshold' of the step 'rerank'"),
    ],
)
def test_code_has_no_form_as_data(step: Step, option: str) -> None:
    with pytest.raises(InputError, match=f"The option {option} is .*, which has no form as data"):
        to_yaml(Pipeline((step,)))


def test_code_that_has_a_name_is_written_by_it() -> None:
    workers = {"upper": str.upper, "shout": Upper}
    pipeline = Rewrite(rewriter=str.upper) | Rewrite(rewriter=(Upper, {"suffix": "!"})) | Search() | Answer()
    text = to_yaml(pipeline, workers=workers)
    assert pipeline_from_text(text, workers=workers) == pipeline


def test_schema_and_writer_agree_on_the_steps() -> None:
    names = {one["const"] for one in json_schema()["$defs"]["step"]["anyOf"][0]["anyOf"]}
    assert names == {one.name for one in BUILTIN} - {"when", "repeat"}
