"""All that is wrong with a file is said at once, where it is, and nothing that only follows from it."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.configuration.own import Picky

from refdesk.configuration import check_pipeline, load_pipeline, pipeline_from_text
from refdesk.configuration.loading import VERSION
from refdesk.errors import PipelineError, Problem
from refdesk.steps import BUILTIN

SIX = """\
version: 1
steps:
- serch: {top_k: 5}
- rerank:
    treshold: 7
    keep: 0
- review
- answer
- when:
    condition: hits<3
    steps:
    - expand: {on_error: ignore}
- cite
- remember: 5
"""


def wrong(text: str, **options: Any) -> tuple[Problem, ...]:
    """Return the problems of a text."""
    with pytest.raises(PipelineError) as raised:
        pipeline_from_text(text, **options)
    return raised.value.problems


def steps(*entries: str) -> str:
    return f"version: {VERSION}\nsteps:\n" + "".join(f"- {entry}\n" for entry in entries)


def places(problems: Sequence[Problem]) -> list[tuple[str, str, int | None]]:
    return [(one.position, one.step, one.line) for one in problems]


def test_a_file_with_many_mistakes_lists_each_with_its_place() -> None:
    found = wrong(SIX)
    assert [str(one) for one in found] == [
        "step 1 (serch), line 3: There is no step 'serch'. Did you mean 'search'?",
        "step 2 (rerank), line 5: It has no option 'treshold'. Did you mean 'threshold'?",
        "step 2 (rerank), line 6: Its option 'keep' is 0: Input should be greater than or equal to 1. "
        "Change the value, or leave the option out.",
        "step 3 (review), line 7: Nothing before it is a step that answers, such as `answer`. "
        "Put one before it, or take this step out.",
        "step 4 (answer), line 8: It answers after a quality gate, so what it writes is reviewed by nothing. "
        "Put it before the gate.",
        "step 5.1 (expand), line 12: Its option 'on_error' is 'ignore': "
        "Input should be 'stop', 'continue' or 'fallback'. Change the value, or leave the option out.",
        "step 7 (remember), line 14: Its options are 5. Write `option: value` below its name.",
    ]


@pytest.mark.parametrize(
    ("text", "reason", "hint", "line"),
    [
        ("", "It is empty.", "Write `version: 1`", 1),
        ("# nothing\n", "It is empty.", "Write `version: 1`", 1),
        ("- search\n- answer", "It is ['search', 'answer'].", "Write `version: 1`", 1),
        ("just text", "It is 'just text'.", "Write `version: 1`", 1),
        ("steps: [search, answer]", "It has no version.", "Write `version: 1`.", None),
        ("version: 2\nsteps: [search, answer]", "Its version is 2.", "Write `version: 1`.", 1),
        ("version: '1'\nsteps: [search, answer]", "Its version is '1'.", "Write `version: 1`.", 1),
        ("version: true\nsteps: [search, answer]", "Its version is True.", "Write `version: 1`.", 1),
        ("version: 1", "It has no steps.", "Write `steps:` and a list.", None),
        ("version: 1\nsteps: []", "It has no steps.", "Add a step that answers, such as `answer`.", None),
        ("version: 1\nsteps: search", "Its steps are 'search'.", "Write a list", 2),
        ("version: 1\nsteps:\n  search: {}", "Its steps are {'search': {}}.", "Write a list", 2),
        ("version: 1\nsteps:", "Its steps are None.", "Write a list", 2),
        ("version: 1\nstep: [search, answer]", "It has the key 'step'.", "Did you mean 'steps'?", 2),
        (
            "version: 1\nowner: me\nsteps: [search, answer]",
            "It has the key 'owner'.",
            "Known: version, name",
            2,
        ),
        ("version: 1\nname: 5\nsteps: [search, answer]", "Its name is 5.", "Write text", 2),
        ("version: 1\nversion: 1\nsteps: [search, answer]", "The key 'version' is there twice.", "Leave", 2),
        ("version: 1\nsteps: [search]", "No step answers.", "Add a step that answers", None),
    ],
)
def test_what_is_wrong_with_the_file_as_a_whole(text: str, reason: str, hint: str, line: int | None) -> None:
    [problem] = wrong(text)
    assert problem.reason == reason
    assert problem.remedy.startswith(hint)
    assert (problem.position, problem.line) == ("", line)


@pytest.mark.parametrize(
    ("entry", "reason", "hint"),
    [
        ("5", "It is 5.", "Write a step's name"),
        ("", "It is None.", "Write a step's name"),
        ("[rewrite]", "It is ['rewrite'].", "Write a step's name"),
        ("{}", "It is {}.", "Write a step's name"),
        ("rewrite:\n  hits: 3", "Beside 'rewrite' it has 'hits'.", "Indent the options"),
        ("rewrite: yes", "Its options are 'yes'.", "Write `option: value`"),
        ("rewrite: [hits, 3]", "Its options are ['hits', 3].", "Write `option: value`"),
        ("Rewrite", "There is no step 'Rewrite'.", "Did you mean 'rewrite'?"),
        ("os.system", "There is no step 'os.system'.", "Known: screen, recall"),
        ("rewrite: {hitz: 3}", "It has no option 'hitz'.", "Did you mean 'hits'?"),
        ("rewrite: {weather: 3}", "It has no option 'weather'.", "Its options: after_retrieval, hits"),
        ("rewrite: {hits: many}", "Its option 'hits' is 'many': Input should be a valid integer", "Change"),
        ("rewrite: {hits: '3'}", "Its option 'hits' is '3'.", "Write 3."),
        ("rewrite: {hits: true}", "Its option 'hits' is True.", "Write 1."),
        ("rewrite: {hits: 3.0}", "Its option 'hits' is 3.0.", "Write 3."),
        ("rewrite: {after_retrieval: 'no'}", "Its option 'after_retrieval' is 'no'.", "Write false."),
        ("rewrite: {id: 5}", "Its option 'id' is 5: Input should be a valid string.", "Change"),
        ("rewrite: {prompt: 'Say {that}'}", "Its option 'prompt' has the placeholder {that};", "Change"),
        (
            "rewrite: {rewriter: mine}",
            "Its option 'rewriter' names the implementation 'mine', which",
            "Change",
        ),
        ("rewrite: {timeout: 0}", "Its option 'timeout' is 0: Input should be greater than 0.", "Change"),
        ("rewrite: {hits: 3, hits: 4}", "The key 'hits' is there twice.", "Leave one out."),
        ("rewrite: {? [a, b] : 3}", "A key is a list or a mapping.", "Write a word"),
        ("rewrite: {hits: !!int many}", "The value 'many' cannot be read as !!int.", "Write it in quotes."),
        (
            "rewrite: {id: !!python/name:os.system x}",
            "The value 'x' cannot be read as",
            "Write it in quotes.",
        ),
        ("when: {condition: hits<3}", "Its option 'steps' is missing.", "Give it."),
        ("when: {steps: [expand]}", "Its option 'condition' is missing.", "Give it."),
        (
            "when: {condition: hits<3, steps: expand}",
            "Its option 'steps' is 'expand'.",
            "Write a list of steps.",
        ),
        ("when: {condition: mood=good, steps: [expand]}", "Its option 'condition' cannot be used:", "Change"),
        ("search: {mode: keyword, threshold: 0.5}", "Its `threshold` is a cosine", "Leave one"),
    ],
)
def test_what_is_wrong_with_an_entry(entry: str, reason: str, hint: str) -> None:
    [problem] = wrong(steps("search", entry, "answer"))
    assert problem.reason.startswith(reason)
    assert problem.remedy.startswith(hint)
    assert problem.position == "2"
    assert problem.line == (5 if "\n" in entry and "Beside" not in reason else 4)


def test_a_step_that_cannot_be_built_still_counts_for_the_order() -> None:
    found = wrong(steps("serch", "rerank", "answr", "review", "cite"))
    assert places(found) == [("1", "serch", 3), ("3", "answr", 5)]
    found = wrong(steps("rerank: {keep: 0}", "search: {top_k: 0}", "rerank", "answer"))
    assert places(found) == [("1", "rerank", 3), ("1", "rerank", 3), ("2", "search", 4)]


def test_nothing_is_said_of_what_a_step_nobody_knows_may_be() -> None:
    assert places(wrong(steps("qqq", "rerank", "cite"))) == [("1", "qqq", 3)]
    assert places(wrong(steps("search", "answer", "review", "qqq", "cite"))) == [("4", "qqq", 6)]
    assert check_pipeline({"version": 1, "steps": ["qqq", "answer"]}).remarks == ()


def test_places_inside_of_steps_that_cannot_be_built() -> None:
    text = """\
version: 1
steps:
- search
- when:
    condition: mood=good
    steps:
    - expnd
    - repeat:
        until: hits>3
        times: 0
        steps: [search: {topk: 3}]
    otherwise:
    - rewrite: {id: a}
    - rewrite: {id: a}
- wen:
    steps:
    - dedupe: {keep: none}
- answer
"""
    assert places(wrong(text)) == [
        ("2", "when", 5),
        ("2.a1", "expnd", 7),
        ("2.a2", "repeat", 10),
        ("2.a2.1", "search", 11),
        ("2.b2", "rewrite", 14),
        ("3", "wen", 15),
        ("3.1", "dedupe", 17),
    ]


def test_one_mistake_twice_is_two_problems() -> None:
    assert places(wrong(steps("search", "rerank: {keep: 0}", "rerank: {keep: 0}", "answer"))) == [
        ("2", "rerank", 4),
        ("3", "rerank", 5),
    ]


def test_a_step_that_refuses_its_options_itself() -> None:
    [problem] = wrong(steps("picky: {level: 9}", "search", "answer"), steps=[Picky])
    assert problem.reason == "It cannot be made: The level is too high."
    assert problem.position == "1"


def test_implementations_are_checked_and_suggested() -> None:
    text = steps("rewrite: {rewriter: uper}", "search: {searcher: five}", "answer")
    spelling, kind = wrong(text, workers={"upper": str.upper, "five": 5})
    assert "did you mean 'upper'?" in spelling.reason
    assert "'searcher' is 5; allowed are functions and objects with a method 'search'" in kind.reason
    assert kind.line == 4


def test_problems_of_a_mapping_have_no_lines() -> None:
    with pytest.raises(PipelineError) as raised:
        load_pipeline({"version": 1, "steps": ["serch", {"answer": {"evidence": 0}}], 5: "x"})  # type: ignore[dict-item]
    assert places(raised.value.problems) == [("", "", None), ("1", "serch", None), ("2", "answer", None)]


def test_a_mapping_that_holds_itself_is_refused() -> None:
    entries: list[Any] = ["search", "answer"]
    entries.append({"when": {"condition": "hits<3", "steps": entries}})
    checked = check_pipeline({"version": 1, "steps": entries})
    assert [one.reason for one in checked.problems] == ["It nests deeper than 40 levels."]


def test_remarks_are_located_and_keep_nothing_from_loading() -> None:
    text = {"version": 1, "steps": ["search", {"answer": {"on_error": "fallback"}}, "answer"]}
    checked = check_pipeline(text)
    assert checked.pipeline
    assert {one.position for one in checked.remarks} == {"2", "3"}
    assert any("deprecated" in one.reason for one in checked.remarks)


ENTRIES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([one.name for one in BUILTIN]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*(one.name for one in BUILTIN), "steps", "otherwise", "condition", "id", "llm"])
            | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["version", "name", "description", "steps"]), ENTRIES) | ENTRIES)
def test_whatever_is_given_is_a_pipeline_or_problems(data: Any) -> None:
    checked = check_pipeline(data if isinstance(data, dict) else {"version": 1, "steps": data})
    assert (checked.pipeline is None) == bool(checked.problems)
    assert all(one.reason and one.remedy for one in checked.problems)
