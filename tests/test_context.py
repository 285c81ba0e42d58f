"""The record of a question."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import pytest

from refdesk.context import NO_USAGE, SCREENED, Answer, Context, Correction, Evidence, Usage
from refdesk.documents import DEFAULT_COLLECTION, Hit
from refdesk.errors import LLMError
from refdesk.results import Results
from refdesk.testing.rerankers import sample_hit

ONE, TWO = sample_hit("one", source_id="1", rank=1), sample_hit("two", source_id="2", rank=2)


def results(*hits: Hit, question: str = "?") -> Results:
    return Results(question=question, hits=hits)


def test_nothing_is_none_where_it_is_a_list() -> None:
    context = Context(question="?")
    lists = {one.name for one in fields(context) if str(one.type).startswith("tuple")}
    assert {name for name in lists if getattr(context, name) == ()} == lists - {"collections"}
    assert context.collections == (DEFAULT_COLLECTION,)


@pytest.mark.parametrize("name", [one.name for one in fields(Context)])
def test_no_field_can_be_set(name: str) -> None:
    context = Context(question="?")
    with pytest.raises(FrozenInstanceError):
        setattr(context, name, "!")


def test_evolve_leaves_the_old_one() -> None:
    context = Context(question="?")
    changed = context.evolve(rewritten_query="r")
    assert (context.rewritten_query, changed.rewritten_query) == ("", "r")
    assert changed.evolve() == changed
    with pytest.raises(TypeError, match="rewriten_query"):
        context.evolve(rewriten_query="r")


def test_other_results_drop_what_was_made_of_the_old() -> None:
    context = Context(question="?").evolve(
        results=(results(ONE),), evidence=(Evidence(1, ONE),), distilled="one", rewritten_query="r"
    )
    changed = context.with_results((results(TWO),))
    assert (changed.evidence, changed.distilled, changed.rewritten_query) == ((), "", "r")
    assert [hit.chunk.text for hit in changed.hits] == ["two"]


def test_hits_are_a_chunk_once_best_first() -> None:
    context = Context(question="?").evolve(results=(results(TWO, ONE), results(), results(ONE)))
    assert [(hit.chunk.text, hit.rank) for hit in context.hits] == [("one", 1), ("two", 2)]
    assert Context(question="?").hits == ()


def test_names_of_the_same() -> None:
    context = Context(question="?").evolve(
        evidence=(Evidence(1, ONE),), corrections=(Correction("draft", "wrong"),)
    )
    assert context.context_used == context.evidence
    assert context.correction_count == 1


def test_a_question_that_was_turned_away_is_finished() -> None:
    context = Context(question="?")
    assert not context.finished
    assert not context.evolve(answer=Answer(question="?", text="x", refusal="review_rejected")).finished
    assert context.evolve(answer=Answer(question="?", text="x", refusal=SCREENED)).finished


def test_an_error_can_be_raised() -> None:
    context = Context(question="?")
    assert context.raise_for_error() is context
    with pytest.raises(LLMError, match="down"):
        context.evolve(error=LLMError("down")).raise_for_error()


def test_usages_add_up() -> None:
    one = Usage(requests=1, input_tokens=10, output_tokens=5, cost=0.5)
    two = Usage(requests=2, input_tokens=1, output_tokens=1, estimated=True)
    assert one + two == Usage(requests=3, input_tokens=11, output_tokens=6, cost=0.5, estimated=True)
    assert sum([one, two], NO_USAGE) == two + one
    assert one + NO_USAGE == one


def test_contexts_can_be_kept() -> None:
    context = Context(question="?").evolve(results=(results(ONE),), answer=Answer(question="?", text="x"))
    assert pickle.loads(pickle.dumps(context)) == context
    assert copy.deepcopy(context) == context
