"""Cases asked of a real library: channels, answers, judges, failures, and what is kept."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import refdesk
from refdesk.configuration import load_pipeline, pipeline_from_text
from refdesk.context import Turn, Usage
from refdesk.errors import InputError, LLMError, NotFound, PipelineError, SettingsError
from refdesk.evaluation.datasets.cases import Case, DataSet, Gold, Need
from refdesk.evaluation.datasets.gold import MEASURES
from refdesk.evaluation.datasets.goldcheck import LostGold, lost_in_words
from refdesk.evaluation.runs.answers import NOT_ANSWERED_BY, REFUSED
from refdesk.evaluation.runs.channels import CHANNELS, NOT_IN_TEXTS, NOTHING_TO_FIND
from refdesk.evaluation.runs.outcomes import CaseOutcome
from refdesk.evaluation.runs.runheader import Asked
from refdesk.evaluation.runs.running import MOST_FAILURES, evaluate, stored_run
from refdesk.evaluation.runs.store import RunStore
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Cite, Condense, Ground, Rewrite, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import Script, ScriptedLLM

pytestmark = pytest.mark.anyio

TEXTS = {
    "leave.md": "Employees get 30 days of leave per year. Unused leave expires in March.",
    "travel.md": "Trains are booked in second class. Flights need the approval of the head.",
    "kitchen.md": "The kitchen closes at six. Please clean the coffee machine on Fridays.",
}
WHERE = "handbook"
DAYS = Case(
    case_id="days",
    question="How many days of leave do employees get per year?",
    needs=(Need(alternatives=(Gold(document="leave.md", quote="30 days of leave"),)),),
    answers=("30 days",),
    tags=("leave", "short"),
)
CLASS = Case(
    case_id="class",
    question="In which class are trains booked?",
    needs=(Need(alternatives=(Gold(document="travel.md"),)),),
    answers=("second class",),
)
WINNER = Case(case_id="winner", question="Who won the cup?", answerable=False, tags=("off",))
HELD = "Employees get 30 days of leave per year [[1]]."
GOOD = '{"reason": "it fits", "score": 9, "declines": false}'
PLAIN = Pipeline((Search(), Answer(), Cite(), Ground()), name="plain")


def data(*cases: Case) -> DataSet:
    return DataSet(name="hand", cases=cases or (DAYS, CLASS, WINNER), digest="d1")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        for name, text in TEXTS.items():
            await desk.ingest_text(text, source_id=name, collection=WHERE)
        yield desk


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def asked(**changes: Any) -> Asked:
    return replace(Asked(pipeline=load_pipeline("default"), collection=WHERE), **changes)


def numbered(*replies: str) -> ScriptedLLM:
    return ScriptedLLM(list(replies), name="writer")


async def of(desk: refdesk.Desk, case: Case, **options: Any) -> CaseOutcome:
    given = {"pipeline": load_pipeline("default"), "collection": WHERE, "channels": (), **options}
    [outcome] = await evaluate(desk, data(case), **given)
    return outcome


async def test_every_channel_is_measured(desk: refdesk.Desk) -> None:
    outcomes = await evaluate(desk, data(), pipeline=load_pipeline("default"), collection=WHERE)
    assert [one.case_id for one in outcomes] == ["days", "class", "winner"]
    for one in outcomes[:2]:
        assert [channel.name for channel in one.channels] == [*CHANNELS, "pipeline"]
        for channel in one.channels:
            assert {f"{channel.name}.{name}" for name in MEASURES} <= one.measures.keys()
            assert one.measures[f"{channel.name}.pollution@5"] == len(channel.documents)
            assert one.measures[f"{channel.name}.Hit@1"] == 1.0
            assert channel.seconds > 0
            assert len(channel.spans) == len(channel.documents) <= 3
        assert one.channels[0].documents[0] == ("leave.md" if one.case_id == "days" else "travel.md")
    assert (outcomes[0].tags, outcomes[0].needs, outcomes[0].answers) == (DAYS.tags, DAYS.needs, DAYS.answers)


async def test_channels_are_what_the_desk_finds(desk: refdesk.Desk) -> None:
    one = await of(desk, DAYS, channels=("vector", "keyword"), answers=False, pipeline=None)
    assert [channel.name for channel in one.channels] == ["keyword", "vector"], "In the order of the stages."
    for channel in one.channels:
        found = await desk.search(DAYS.question, collections=WHERE, mode=channel.name, top_k=100)  # type: ignore[arg-type]
        assert channel.documents == tuple(hit.source_id for hit in found.hits)
        assert channel.spans[0] == (
            found.hits[0].source_id,
            found.hits[0].chunk.start,
            found.hits[0].chunk.end,
        )
    assert one.answer is None
    assert not any(name.startswith(("answer", "pipeline")) for name in {**one.measures, **one.excluded})


async def test_a_case_that_nothing_answers_has_no_ranking_but_an_answer(desk: refdesk.Desk) -> None:
    one = await of(desk, WINNER, channels=("keyword",))
    assert {one.excluded[f"keyword.{name}"] for name in MEASURES} == {NOTHING_TO_FIND}
    assert not {f"keyword.{name}" for name in MEASURES} & one.measures.keys()
    assert one.answer is not None
    assert one.answer.refusal in ("nothing_found", "below_threshold")
    assert (one.measures["answer.refused"], one.measures["answer.right"]) == (1.0, 1.0)
    assert one.excluded["answer.correctness"] == NOT_ANSWERED_BY
    assert one.excluded["answer.faithfulness"] == REFUSED


async def test_gold_that_is_not_in_the_documents_is_left_out_and_said(desk: refdesk.Desk) -> None:
    lost = replace(DAYS, needs=(Need(alternatives=(Gold(document="leave.md", quote="40 days"),)),))
    one = await of(desk, lost, channels=("keyword",))
    assert one.excluded["keyword.nDCG@10"] == NOT_IN_TEXTS
    assert "The document 'leave.md' does not hold '40 days'." in one.warnings
    missing = replace(DAYS, needs=(Need(alternatives=(Gold(document="gone.md", quote="30 days"),)),))
    assert (await of(desk, missing, channels=("keyword",))).measures["keyword.Recall@10"] == 0.0


async def test_an_extractive_answer_is_measured_without_a_model(desk: refdesk.Desk) -> None:
    one = await of(desk, DAYS)
    assert one.answer is not None
    assert one.answer.text.startswith("Employees get 30 days of leave per year")
    assert one.answer.citations[0]["quote"] in TEXTS["leave.md"]
    shares = ("citation_validity", "citation_support", "claim_support", "coverage", "correctness", "right")
    assert [one.measures[f"answer.{name}"] for name in shares] == [1.0] * len(shares)
    assert one.answer.confidence is not None
    assert (one.measures["tokens"], one.measures["cost"], one.tokens) == (0.0, 0.0, 0)
    steps = ["recall", "condense", "search", "rerank", "answer", "cite", "ground", "remember"]
    assert [line.split()[0] for line in one.trace] == steps


async def test_markers_that_point_nowhere_and_claims_that_nothing_holds(desk: refdesk.Desk) -> None:
    llm = numbered(f"{HELD} Everybody gets a company car made of gold [[9]].")
    one = await of(desk, DAYS, pipeline=PLAIN, llm=llm)
    assert one.measures["answer.citation_validity"] == 0.5
    assert one.measures["answer.claim_support"] == 0.5
    assert one.measures["answer.coverage"] == 0.5
    assert one.measures["answer.citation_support"] == 1.0


async def test_answers_of_pipelines_that_do_not_ground_are_checked_as_well(desk: refdesk.Desk) -> None:
    one = await of(desk, DAYS, pipeline=Search() | Answer() | Cite(), llm=numbered(HELD))
    assert one.measures["answer.faithfulness"] == one.measures["answer.claim_support"] == 1.0
    assert not any(line.startswith("ground") for line in one.trace), "It is no part of what the pipeline did."


async def test_what_a_model_took(desk: refdesk.Desk) -> None:
    usage = Usage(requests=1, input_tokens=90, output_tokens=10, cost=0.25)
    llm = ScriptedLLM([HELD], usage=usage)
    one = await of(desk, DAYS, pipeline=PLAIN, llm=llm, judge=ScriptedLLM([GOOD], usage=usage))
    assert (one.requests, one.tokens, one.cost) == (1, 100, 0.25)
    assert (one.measures["requests"], one.measures["tokens"], one.measures["cost"]) == (1.0, 100.0, 0.25)
    assert one.trace[-1].startswith("judge  ")
    assert one.trace[-1].endswith("requests=2  tokens=200  cost=0.5"), "What judges take is told apart."
    free = await of(desk, DAYS, pipeline=PLAIN, llm=numbered(HELD))
    assert free.excluded["cost"] == "no price is known for the model"
    assert "cost" not in free.measures


async def test_a_judge_scores_answers(desk: refdesk.Desk) -> None:
    judge = ScriptedLLM([GOOD, '{"reason": "one claim is not held", "score": 5}'])
    one = await of(desk, DAYS, pipeline=PLAIN, llm=numbered(HELD), judge=judge)
    assert one.measures["answer.correctness"] == pytest.approx(0.9)
    assert one.measures["answer.faithfulness"] == 0.5
    assert one.measures["answer.right"] == 1.0
    assert one.answer is not None
    assert one.answer.judgements == {
        "answer.correctness": "it fits",
        "answer.faithfulness": "one claim is not held",
    }


@pytest.mark.parametrize(("declines", "right"), [("true", 1.0), ("false", 0.0)])
async def test_a_judge_sees_refusals_in_words(desk: refdesk.Desk, declines: str, right: float) -> None:
    judge = ScriptedLLM([f'{{"reason": "so", "declines": {declines}, "score": 3}}'])
    one = await of(desk, WINNER, pipeline=PLAIN, llm=numbered("Nobody has told me about a cup."), judge=judge)
    assert (one.measures["answer.refused"], one.measures["answer.right"]) == (right, right)
    assert one.answer is not None
    assert one.answer.refusal == ("declined" if right else None)
    assert ("answer.faithfulness" in one.measures) is not bool(right)


async def test_a_false_refusal_is_wrong(desk: refdesk.Desk) -> None:
    judge = ScriptedLLM(['{"reason": "it gives no answer", "declines": true, "score": 0}'])
    one = await of(desk, DAYS, pipeline=PLAIN, llm=numbered("I cannot tell."), judge=judge)
    assert [one.measures[f"answer.{name}"] for name in ("refused", "correctness", "right")] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("case", [DAYS, WINNER])
async def test_a_broken_judge_is_left_out_with_the_reason(desk: refdesk.Desk, case: Case) -> None:
    llm = numbered(HELD)
    one = await of(desk, case, pipeline=PLAIN, llm=llm, judge=ScriptedLLM(["I would rather not."]))
    assert not one.error
    for name in ("answer.faithfulness", "answer.refused", "answer.right"):
        assert name not in one.measures
        assert one.excluded[name].startswith("the judge's reply could not be read")
    assert "answer.claim_support" in one.measures


async def test_history_is_for_the_pipeline(desk: refdesk.Desk) -> None:
    history = (Turn("user", "How many days of leave do employees get?"), Turn("assistant", "Thirty."))
    case = replace(DAYS, question="And per year?", history=history)
    llm = numbered("days of leave per year", HELD)
    one = await of(desk, case, pipeline=Condense() | PLAIN, llm=llm, channels=("keyword",))
    assert any("How many days of leave" in message.text for message in llm.asked[0])
    assert one.history == history
    assert len(llm.asked) == 2


def failing(*failures: int) -> list[Script]:
    return [LLMError(f"It is down at {place}.") if place in failures else HELD for place in range(12)]


def many(count: int) -> tuple[Case, ...]:
    return tuple(replace(DAYS, case_id=f"q{place}") for place in range(count))


async def test_a_case_that_fails_is_counted_and_the_run_goes_on(desk: refdesk.Desk, store: RunStore) -> None:
    run = await stored_run(
        desk,
        data(*many(6)),
        asked(pipeline=PLAIN, llm=ScriptedLLM(failing(1, 2, 4))),
        store=store,
        name="one",
    )
    assert run.status == "done"
    assert [bool(one.error) for one in run.outcomes.values()] == [False, True, True, False, True, False]
    failed = run.outcomes["q1"]
    assert failed.error == "It is down at 1."
    assert (failed.measures, failed.answer, failed.needs) == ({}, None, DAYS.needs)


async def test_sources_in_place_of_an_answer_are_no_refusal_but_a_failure(
    desk: refdesk.Desk, store: RunStore
) -> None:
    given = asked(
        pipeline=Search() | Answer(on_model_error="sources") | Cite(), llm=ScriptedLLM(failing(1, 2))
    )
    run = await stored_run(desk, data(*many(4)), given, store=store, name="one")
    assert [bool(one.error) for one in run.outcomes.values()] == [False, True, True, False]
    assert "No answer was written. answer: The model failed" in run.outcomes["q1"].error
    assert run.outcomes["q1"].answer is None


async def test_many_failures_in_a_row_end_the_run_as_crashed(desk: refdesk.Desk, store: RunStore) -> None:
    llm, cases = ScriptedLLM([HELD, LLMError("It is down.")]), data(*many(12))
    given = asked(pipeline=PLAIN, llm=llm, channels=())
    with pytest.raises(LLMError, match="It is down"):
        await stored_run(desk, cases, given, store=store, name="one")
    run = store.read("one")
    assert (run.status, run.error) == ("crashed", "It is down.")
    assert len(run.outcomes) == 1 + MOST_FAILURES
    again = replace(given, llm=ScriptedLLM([HELD]))
    done = await stored_run(desk, cases, again, store=store, name="one", resume=True)
    assert done.status == "done"
    assert list(done.outcomes) == [case.case_id for case in cases.cases]
    assert not any(one.error for one in done.outcomes.values())


async def test_failures_of_the_judge_are_failures_of_the_case(desk: refdesk.Desk) -> None:
    judge = ScriptedLLM([LLMError("The judge is down.")])
    one = await of(desk, DAYS, pipeline=PLAIN, llm=numbered(HELD), judge=judge)
    assert (one.error, one.measures) == ("The judge is down.", {})


async def test_what_is_wrong_with_every_case_ends_the_run_at_once(
    desk: refdesk.Desk, store: RunStore
) -> None:
    def misconfigured(question: str, hits: Sequence[Any]) -> str:
        raise SettingsError("There is no key.")

    given = asked(pipeline=Search() | Answer(answerer=misconfigured), channels=())
    with pytest.raises(SettingsError):
        await stored_run(desk, data(*many(3)), given, store=store, name="one")
    assert (store.read("one").status, len(store.read("one").outcomes)) == ("crashed", 0)


async def test_errors_of_code_of_the_users_own_are_failures_of_the_case(desk: refdesk.Desk) -> None:
    def broken(question: str, hits: Sequence[Any]) -> Any:
        raise ZeroDivisionError("by my own code")

    one = await of(desk, DAYS, pipeline=Search() | Answer(answerer=broken))
    assert "by my own code" in one.error


async def test_a_run_that_is_broken_off_is_kept_and_goes_on(desk: refdesk.Desk, store: RunStore) -> None:
    cases, given = data(*many(4)), asked(pipeline=PLAIN, llm=numbered(HELD))
    with anyio.CancelScope() as scope:

        def stop(outcome: CaseOutcome) -> None:
            if outcome.case_id == "q1":
                scope.cancel()

        await stored_run(desk, cases, given, store=store, name="one", on_outcome=stop)
    run = store.read("one")
    assert (run.status, list(run.outcomes)) == ("interrupted", ["q0", "q1"])
    begun: list[str] = []
    seen: list[str] = []
    done = await stored_run(
        desk,
        cases,
        given,
        store=store,
        name="one",
        resume=True,
        on_case=lambda case: begun.append(case.case_id),
        on_outcome=lambda one: seen.append(one.case_id),
    )
    assert begun == ["q2", "q3"]
    assert seen == list(done.outcomes) == ["q0", "q1", "q2", "q3"]
    assert done.outcomes["q0"] == run.outcomes["q0"]


async def test_a_changed_library_is_not_resumed(desk: refdesk.Desk, store: RunStore) -> None:
    await stored_run(desk, data(DAYS), asked(), store=store, name="one")
    await desk.ingest_text("A new house rule.", source_id="new.md", collection=WHERE)
    with pytest.raises(InputError, match="documents was 3 and is 4"):
        await stored_run(desk, data(DAYS), asked(), store=store, name="one", resume=True)


async def test_the_header_says_what_the_run_was_and_no_secret(tmp_path: Path, store: RunStore) -> None:
    settings: dict[str, Any] = {
        "password": "hunter2",
        "mode": "keyword",
        "llm": "openai:model@http://me:pw@127.0.0.1:9/v1?key=k3y",
    }
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), **settings) as desk:
        await desk.ingest_text(TEXTS["leave.md"], source_id="leave.md", collection=WHERE)
        given = asked(judge=ScriptedLLM([GOOD], name="judge-1"), llm=numbered(HELD), seed=7)
        run = await stored_run(desk, data(DAYS), given, store=store, name="one", options={"sample": 1})
    header, text = run.header, (store.folder / "one" / "run.json").read_text("utf-8")
    assert "hunter2" not in text
    assert "pw@" not in text
    assert "k3y" not in text
    assert str(tmp_path) not in text
    assert header.settings == {"mode": "keyword", "llm": "openai:model@http://127.0.0.1:9/v1"}
    assert header.versions["embedder"].startswith("hashing@")
    assert header.versions["reranker"].startswith("maxsim(hashing@")
    assert (header.versions["llm"], header.versions["judge"]) == ("writer", "judge-1")
    assert (header.options["correctness"], header.options["sample"]) == ("judge", 1)
    assert (header.seed, header.data_digest, header.cases) == (7, "d1", 1)
    assert pipeline_from_text(header.pipeline_yaml) == load_pipeline("default")


async def test_a_pipeline_that_holds_code_is_told_as_it_is_shown(desk: refdesk.Desk, store: RunStore) -> None:
    def mine(question: str, hits: Sequence[Any]) -> str:
        return "Thirty."

    pipeline = Pipeline((Search(), Answer(answerer=mine)), name="mine")
    run = await stored_run(desk, data(DAYS), asked(pipeline=pipeline), store=store, name="one")
    assert "Answer(" in run.header.pipeline_yaml
    assert " at 0x" not in run.header.pipeline_yaml
    assert run.header.pipeline == "mine"


async def test_finding_alone_costs_no_answer(desk: refdesk.Desk) -> None:
    llm = numbered(HELD)
    one = await of(desk, DAYS, pipeline=PLAIN, answers=False, llm=llm)
    assert one.measures["pipeline.Hit@1"] == 1.0
    assert one.answer is None
    assert llm.asked == []


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"channels": ("keywords",)}, InputError, "Unknown channel 'keywords'"),
        ({"pipeline": None}, InputError, "Answers need a pipeline"),
        ({"pipeline": None, "answers": False, "channels": ()}, InputError, "Nothing is measured"),
        ({"answers": False, "judge": "openai:x"}, InputError, "nothing to judge"),
        ({"pipeline": Rewrite() | PLAIN}, PipelineError, "needs a language model"),
        ({"pipeline": Pipeline((Cite(),))}, PipelineError, "cite"),
        ({"collection": "nowhere"}, NotFound, "nowhere"),
        ({"judge": "no model"}, InputError, "model string"),
        ({"llm": "no model"}, InputError, "model string"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_anything_is_asked(
    desk: refdesk.Desk, store: RunStore, options: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        await stored_run(desk, data(), asked(**options), store=store, name="one")
    assert store.names() == ()


async def test_no_cases(desk: refdesk.Desk) -> None:
    with pytest.raises(InputError, match="no cases"):
        await evaluate(desk, DataSet(name="none", cases=()), pipeline=None, collection=WHERE, answers=False)


async def test_without_a_reranker(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), reranker="none") as desk:
        await desk.ingest_text(TEXTS["leave.md"], source_id="leave.md", collection=WHERE)
        one = await of(desk, DAYS, channels=None)
        assert [channel.name for channel in one.channels] == ["keyword", "vector", "fused", "pipeline"]
        with pytest.raises(InputError, match="'reranked' has no reranker"):
            await of(desk, DAYS, channels=("reranked",))


async def test_the_rank_at_which_a_need_is_met_is_kept(desk: refdesk.Desk, store: RunStore) -> None:
    gone = Need(alternatives=(Gold(document="gone.md"),))
    both = replace(DAYS, needs=(*DAYS.needs, *CLASS.needs, gone))
    how = asked(pipeline=None, answers=False, channels=("keyword", "fused"))
    run = await stored_run(desk, data(both, WINNER), how, store=store, name="ranks")
    for channel in run.outcomes["days"].channels:
        first, second, nowhere = channel.ranks
        assert (first, nowhere) == (1, None)
        assert channel.spans[(second or 0) - 1][0] == "travel.md"
    assert [one.ranks for one in run.outcomes["winner"].channels] == [(), ()]


async def test_gold_that_the_collection_lacks_is_told_before_anything_is_asked(desk: refdesk.Desk) -> None:
    gone = Need(alternatives=(Gold(document="gone.md"), Gold(document="lost.md", quote="30 days")))
    cases = data(replace(CLASS, needs=(*CLASS.needs, gone)), replace(DAYS, needs=(gone,)), WINNER)
    told: list[list[str]] = []
    seen: list[str] = []

    def lost(gold: Sequence[LostGold]) -> None:
        assert not seen
        told.append(list(lost_in_words(gold)))

    options: dict[str, Any] = {
        "pipeline": None,
        "answers": False,
        "collection": WHERE,
        "channels": ("keyword",),
    }
    outcomes = await evaluate(
        desk, cases, **options, on_lost=lost, on_case=lambda case: seen.append(case.case_id)
    )
    assert told == [["2 gold documents are missing, and will not be found: gone.md, lost.md."]]
    missing = ("The document 'gone.md' is not there.", "The document 'lost.md' is not there.")
    assert [one.warnings for one in outcomes] == [missing, missing, ()]
    assert (outcomes[0].measures["keyword.Recall@10"], outcomes[1].measures["keyword.Recall@10"]) == (
        0.5,
        0.0,
    )
    await evaluate(desk, data(), **options, on_lost=lost)
    assert len(told) == 1
