"""What a step is, what a pipeline is, and what is wrong with one."""

import copy
import pickle
import threading
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import pytest
from tests.pipeline.parts import Do, Find, Polish, Say

from refdesk.context import Context
from refdesk.errors import InputError, Problem
from refdesk.pipeline import Kind, Pipeline, Repeat, Step, When
from refdesk.steps import Rerank, Rewrite, Search


def reasons(*steps: Step, llm: bool = True) -> list[str]:
    return [str(problem) for problem in Pipeline(steps).problems(llm=llm)]


def test_names_come_from_classes() -> None:
    class SpellCheck(Step):
        kind: ClassVar[Kind] = "query_optimizer"

    assert SpellCheck.name == "spell_check"
    assert (Search.name, Search(id="wide").label) == ("search", "wide")


def test_three_ways_to_build_are_equal() -> None:
    one = Rewrite() | Search(top_k=3) | Say()
    assert one == Pipeline((Rewrite(), Search(top_k=3), Say()))
    assert one == Rewrite() | (Search(top_k=3) | Say())
    assert one != Rewrite() | Search(top_k=4) | Say()


def test_lists_are_tuples() -> None:
    assert Search(collection=["a", "b"]) == Search(collection=("a", "b"))  # type: ignore[arg-type]


def test_steps_can_be_copied() -> None:
    step = Search(top_k=3, collection=("a",))
    assert copy.deepcopy(step) == step
    assert pickle.loads(pickle.dumps(step)) == step
    assert replace(step, top_k=4).top_k == 4


@pytest.mark.parametrize(
    ("option", "hint"), [("topk", "Did you mean 'top_k'?"), ("zzz", "Its options: arm_timeout, collection,")]
)
def test_an_unknown_option_is_an_error_with_the_nearest_name(option: str, hint: str) -> None:
    with pytest.raises(InputError) as raised:
        Search(**cast(Any, {option: 3}))
    assert f"has no option {option!r}" in raised.value.message
    assert raised.value.remedy.startswith(hint)


@pytest.mark.parametrize("wrong", [Search, "search", 5])
def test_a_pipeline_is_made_of_steps(wrong: Any) -> None:
    with pytest.raises(InputError, match="made of steps"):
        Pipeline((wrong,))


def test_every_rule_of_order_at_once() -> None:
    found = reasons(Polish(), Rerank(), Do(id="a"), Do(id="a"), Say(), Polish(), Say())
    assert [line.split(". ")[0] for line in found] == [
        "step 1 (polish): Nothing before it is a step that answers, such as `answer`",
        "step 2 (rerank): Nothing before it is a step that searches, such as `search` or a memory step, "
        "such as `recall`",
        "step 4 (do): Its id 'a' is that of step 3",
        "step 5 (say): It answers after a quality gate, so what it writes is reviewed by nothing",
        "step 7 (say): It answers after a quality gate, so what it writes is reviewed by nothing",
    ]


def test_no_step_answers() -> None:
    assert reasons(Find()) == ["No step answers. Add a step that answers, such as `answer`."]
    assert reasons() == ["It has no steps. Add a step that answers, such as `answer`."]


def test_positions_inside_blocks() -> None:
    two = When(condition="hits<3", steps=(Search(top_k=0),), otherwise=(Find(), Search(mode="x")))  # type: ignore[arg-type]
    one = Repeat(steps=(Search(top_k=-1),), until="hits>3")
    places = [problem.position for problem in Pipeline((two, one, Say())).problems()]
    assert places == ["1.a1", "1.b2", "2.1"]


def test_values_are_checked_in_code_as_in_files() -> None:
    [line] = reasons(Search(top_k="many"), Say())  # type: ignore[arg-type]
    assert line.startswith("step 1 (search): Its option 'top_k' is 'many': ")
    [line] = reasons(Search(searcher=5), Say())  # type: ignore[arg-type]
    assert "allowed are functions and objects with a method 'search'" in line
    [line] = reasons(Search(mode="keyword", threshold=0.5), Say())
    assert "Its `threshold` is a cosine" in line


def test_models_that_are_missing() -> None:
    assert reasons(Rewrite(), Say(), llm=False) == [
        "step 1 (rewrite): It needs a language model, and none is configured. "
        "Name one: `--llm`, `llm=` of the call, REFDESK_LLM, or the step's own option."
    ]
    assert reasons(Rewrite(), Say(), llm=True) == []
    assert reasons(Rewrite(llm="openai:small"), Rewrite(rewriter=str.lower), Say(), llm=False) == []


def test_remarks_do_not_keep_it_from_running() -> None:
    pipeline = Pipeline((Do(on_error="fallback"), Say(on_error="continue"), Say(), Polish(), Polish()))
    assert pipeline.problems() == ()
    assert [(one.position, one.reason.split(",")[0]) for one in pipeline.remarks] == [
        ("1", "`on_error: fallback` is deprecated and means `continue`."),
        ("2", "When it fails the run goes on"),
        ("3", "It answers"),
        ("5", "It reviews the answer"),
    ]
    assert isinstance(pipeline.remarks[0], Problem)


def test_a_context_is_never_altered() -> None:
    context = Context(question="?")
    with pytest.raises(AttributeError):
        context.question = "!"  # type: ignore[misc]
    assert context.evolve(question="!") != context


@pytest.mark.parametrize(
    ("changes", "queries"),
    [
        ({}, ("?",)),
        ({"rewritten_query": "r"}, ("r",)),
        ({"rewritten_query": "r", "expanded_query": "e"}, ("e",)),
        ({"expanded_query": "e", "sub_questions": ("a", "b")}, ("a", "b")),
    ],
)
def test_one_rule_says_what_is_searched(changes: dict[str, Any], queries: tuple[str, ...]) -> None:
    assert Context(question="?").evolve(**changes).queries == queries


def test_blocks_of_which_one_runs_do_not_see_each_other() -> None:
    either = When(condition="hits=0", steps=(Find(),), otherwise=(Rerank(),))
    assert [line.split(":")[0] for line in reasons(either, Say())] == ["step 1.b1 (rerank)"]
    gated = When(condition="hits=0", steps=(Say(), Polish()), otherwise=(Say(),))
    assert Pipeline((gated,)).problems() == ()
    assert Pipeline((gated,)).remarks == ()
    assert [line.split(":")[0] for line in reasons(gated, Say())] == ["step 2 (say)"]
    assert reasons(When(condition="hits=0", steps=(Find(),)), Rerank(), Say()) == []
    assert [one.position for one in Pipeline((gated, When(condition="hits=0", steps=(Say(),)))).remarks] == [
        "2.1"
    ]


def test_problems_come_in_the_order_of_the_steps() -> None:
    wrong = tuple(Search(top_k=0) for _ in range(11))
    block = When(condition="hits=0", steps=wrong, otherwise=(Search(top_k=0),))
    places = [problem.position for problem in Pipeline((*wrong, block, Say())).problems()]
    assert places == [
        *(str(place) for place in range(1, 12)),
        *(f"12.a{place}" for place in range(1, 12)),
        "12.b1",
    ]


def test_a_step_may_have_many_blocks() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Three(Find):
        one: tuple[Step, ...] = (Search(top_k=0),)

        @property
        def blocks(self) -> tuple[tuple[Step, ...], ...]:
            return (self.one, self.one, self.one)

    assert [one.position for one in Pipeline((Three(), Say())).problems()] == ["1.a1", "1.b1", "1.c1"]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Search(top_k="5"), "Its option 'top_k' is '5'. Write 5."),  # type: ignore[arg-type]
        (Find(timeout="2"), "Its option 'timeout' is '2'. Write 2.0."),  # type: ignore[arg-type]
        (Find(timeout=0), "Its option 'timeout' is 0: Input should be greater than 0."),
        (Find(on_error="skip"), "Its option 'on_error' is 'skip': Input should be"),  # type: ignore[arg-type]
    ],
)
def test_values_that_only_look_right(step: Step, said: str) -> None:
    assert said in reasons(step, Say())[0]


def test_values_of_another_type_that_mean_the_same() -> None:
    assert reasons(Search(threshold=1), Find(timeout=2), Say()) == []


def test_steps_that_were_used_can_still_be_copied() -> None:
    step = Rewrite(rewriter=(Locked, {"word": "a"}))
    assert step.work is step.work
    assert pickle.loads(pickle.dumps(step)) == step
    assert copy.deepcopy(step) == step
    assert pickle.loads(pickle.dumps(Pipeline((step,)))) == Pipeline((step,))


class Locked:
    """A rewriter that cannot be copied once it is made."""

    def __init__(self, word: str) -> None:
        self.lock = threading.Lock()

    def rewrite(self, question: str) -> str:
        return question


def test_a_step_has_a_kind() -> None:
    class Kindless(Step):
        pass

    with pytest.raises(InputError, match="'kindless' has no kind"):
        Kindless()


def test_a_class_in_the_place_of_a_step() -> None:
    with pytest.raises(InputError, match=r"Write Say\(\)"):
        Find() | Say
    with pytest.raises(InputError, match="made of steps"):
        Find() | Say() | "cite"  # type: ignore[operator]
