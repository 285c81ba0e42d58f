"""Sweeps on a real library: every configuration a stored run, resumed, raced, within a budget."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import refdesk
from refdesk.desk import Desk
from refdesk.desk.services import Services
from refdesk.errors import InputError, NotFound, RemoteError
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need
from refdesk.evaluation.runs.store import RunStore
from refdesk.evaluation.sweeps.libraries import opened as opened_desk
from refdesk.evaluation.sweeps.reading import read_sweep
from refdesk.evaluation.sweeps.sweeping import Sweeping, questions_of
from refdesk.settings import Settings
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

WORDS = """zinc iron gold lead neon argon boron cobalt silver nickel radon barium helium copper cadmium
xenon""".split()  # noqa: SIM905 a list would be a page
PADDING = " ".join(f"word{number}" for number in range(60))
DATA = DataSet(
    name="metals",
    split="train",
    cases=tuple(
        Case(
            case_id=word,
            question=f"Where are bars of {word}?",
            needs=(Need(alternatives=(Gold(document=word),)),),
        )
        for word in WORDS
    ),
    documents=tuple(
        CorpusDocument(document=word, title="", text=f"Bars of {word} lie there. {PADDING}") for word in WORDS
    ),
    digest="d1",
)
BARE = replace(DATA, documents=())
QUICK = {
    "name": "quick",
    "data": "metals",
    "objective": "pipeline.nDCG@10",
    "base": {"pipeline": "simple"},
    "factors": {"mode": ["hybrid", "keyword"], "search.top_k": [1]},
}


class Opened:
    """Opens desks with one hashing embedder, and remembers with what settings."""

    def __init__(self) -> None:
        self.embedder = HashingEmbedder()
        self.settings: list[Settings] = []
        self.fail = ""
        """A mode whose desks cannot be opened."""

    @asynccontextmanager
    async def __call__(self, settings: Settings) -> AsyncIterator[Desk]:
        self.settings.append(settings)
        if settings.mode == self.fail:
            raise RemoteError("The server is gone.", retryable=False)
        services = Services(settings=settings, built={"embedder": self.embedder})
        try:
            yield Desk(services)
        finally:
            await services.aclose()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=str(tmp_path / "library"), reranker="none")


def sweeping(settings: Settings, opened: Opened, data: DataSet = DATA, **changes: Any) -> Sweeping:
    options = {name: changes.pop(name) for name in ("resume",) if name in changes}
    sweep = read_sweep({**QUICK, **changes}, settings=settings)
    store = RunStore(Path(settings.library) / "evaluations")
    return Sweeping(sweep, data, store, opening=opened, **options)


async def run(one: Sweeping) -> Sweeping:
    await one.check()
    await one.prepare()
    await one.ask()
    return one


async def test_every_configuration_is_a_stored_run_of_the_same_questions(settings: Settings) -> None:
    counted: dict[str, int] = {}

    def on_asked(name: str, more: int) -> None:
        counted[name] = counted.get(name, 0) + more

    one = sweeping(settings, Opened())
    await one.check()
    await one.prepare()
    await one.ask(on_asked)
    assert one.store.names() == ("quick.base", "quick.mode=keyword", "quick.search.top_k=1")
    stored = [one.store.read(name) for name in one.store.names()]
    assert {found.status for found in stored} == {"done"}
    assert {tuple(found.outcomes) for found in stored} == {tuple(WORDS)}
    assert {found.header.sweep for found in stored} == {"quick"}
    assert stored[1].header.options["factors"] == {"mode": "keyword", "search.top_k": None}
    assert stored[1].header.settings["mode"] == "keyword"
    assert counted == {"base": 16, "mode=keyword": 16, "search.top_k=1": 16}
    assert sum(counted.values()) == one.questions
    report = one.report()
    assert [row.status for row in report.rows] == ["done"] * 3
    assert all(row.objective is not None and row.p50 is not None for row in report.rows)


async def test_gold_that_the_collection_lacks_is_told_once_for_all_configurations(settings: Settings) -> None:
    gone = Case(case_id="gone", question="Gone?", needs=(Need(alternatives=(Gold(document="gone.md"),)),))
    one = await run(sweeping(settings, Opened(), replace(DATA, cases=(*DATA.cases, gone))))
    said = "1 gold document is missing, and will not be found: gone.md."
    assert [warning for warning in one.report().warnings if "gold" in warning] == [said]


async def test_a_sweep_is_not_begun_twice_but_resumed_without_asking_again(settings: Settings) -> None:
    first = await run(sweeping(settings, Opened()))
    with pytest.raises(InputError, match=r"3 runs already.*--resume"):
        await sweeping(settings, Opened()).check()
    opened = Opened()
    again = await run(sweeping(settings, opened, resume=True))
    assert opened.embedder.embedded == 0
    assert again.report().rows == first.report().rows


async def test_what_is_stored_otherwise_gets_a_library_of_its_own_made_once(settings: Settings) -> None:
    changes: Any = {"factors": {"chunk_tokens": [0, 20], "mode": ["keyword"]}, "strategy": "grid"}
    opened = Opened()
    await run(sweeping(settings, opened, **changes))
    library = Path(settings.library)
    assert {one.library for one in opened.settings} == {
        str(library),
        str(library / "sweeps" / "chunk_tokens=20"),
    }
    chunks = []
    for one in tuple(opened.settings):
        async with opened(one) as desk:
            chunks.append((one.chunk_tokens, (await desk.collection("eval-metals")).chunks))
    assert len(set(chunks)) == 2
    made = opened.embedder.embedded
    await sweeping(settings, opened, **changes, resume=True).prepare()
    assert opened.embedder.embedded == made


async def test_questions_about_documents_that_are_there_leave_their_library_alone(settings: Settings) -> None:
    changes: Any = {"factors": {"chunk_tokens": [16]}, "collection": "own"}
    opened = Opened()
    async with opened(settings) as desk:
        for one in DATA.documents:
            await desk.ingest_text(one.text, source_id=one.document, collection="own")
        before = await desk.collection("own")
    await run(sweeping(settings, opened, BARE, **changes))
    async with opened(settings) as desk:
        assert await desk.collection("own") == before
    apart = replace(settings, library=f"{settings.library}/sweeps/chunk_tokens=16", chunk_tokens=16)
    async with opened(apart) as desk:
        assert (await desk.collection("own")).chunks > before.chunks
        assert [one.source_id for one in await desk.documents(collections="own")] == sorted(WORDS)


async def test_a_copy_follows_what_was_ingested_since(settings: Settings) -> None:
    changes: Any = {"factors": {"chunk_tokens": [16]}, "collection": "own"}
    opened = Opened()
    async with opened(settings) as desk:
        await desk.ingest_text("Bars of zinc.", source_id="zinc", collection="own")
    await sweeping(settings, opened, BARE, **changes).prepare()
    async with opened(settings) as desk:
        await desk.ingest_text("Bars of iron.", source_id="iron", collection="own")
    one = sweeping(settings, opened, BARE, **changes)
    await one.prepare()
    async with opened(one.runs[1].setup.settings) as desk:
        assert len(await desk.documents(collections="own")) == 2


async def test_questions_about_nothing_are_refused(settings: Settings) -> None:
    apart = {"pipeline": "simple", "settings": {"chunk_tokens": 16}}
    with pytest.raises(NotFound, match="no documents in a collection 'own'"):
        await sweeping(settings, Opened(), BARE, collection="own", base=apart).prepare()


async def test_parts_are_loaded_before_anything_runs(settings: Settings) -> None:
    one = sweeping(
        settings, Opened(), factors={"chunk_tokens": [5, 10_000], "reranker": ["none", "cohre", "maxsim"]}
    )
    with pytest.raises(InputError) as caught:
        await one.check()
    said = str(caught.value)
    assert "has 3 problems" in said
    assert "chunk_tokens=5: Chunk size 5 is impossible" in said
    assert "Unknown reranker 'cohre'" in said
    assert one.store.names() == ()


async def test_a_spent_budget_ends_a_sweep_that_can_go_on(settings: Settings) -> None:
    one = await run(sweeping(settings, Opened(), budget={"seconds": 1e-9}))
    report = one.report()
    assert [row.status for row in report.rows] == ["not run"] * 3
    assert report.warnings == ("The budget of 1e-09 seconds is spent; `--resume` goes on.",)
    done = await run(sweeping(settings, Opened(), resume=True, budget={"runs": 2}))
    assert [row.name for row in done.report().rows] == ["base", "mode=keyword"]
    assert {row.status for row in done.report().rows} == {"done"}


async def test_a_configuration_that_fails_does_not_stop_the_others(settings: Settings) -> None:
    counted: list[int] = []
    opened = Opened()
    one = sweeping(settings, opened)
    await one.check()
    await one.prepare()
    opened.fail = "keyword"
    await one.ask(lambda name, more: counted.append(more))
    rows = {row.name: row for row in one.report().rows}
    assert rows["mode=keyword"].status == "failed"
    assert rows["mode=keyword"].error == "The server is gone."
    assert rows["search.top_k=1"].status == "done"
    assert sum(counted) == one.questions


async def test_the_race_drops_what_is_clearly_worse_and_never_the_base(settings: Settings) -> None:
    changes: Any = {"factors": {"mode": ["hybrid", "keyword"], "search.collection": ["other"]}, "race": 10}
    opened = Opened()
    async with opened(settings) as desk:
        await desk.ingest_text("Nothing of it.", source_id="x", collection="other")
    one = await run(sweeping(settings, opened, **changes))
    rows = {row.name: row for row in one.report().rows}
    assert (rows["search.collection=other"].status, rows["search.collection=other"].asked) == ("dropped", 10)
    assert (rows["base"].status, rows["base"].asked) == ("done", 16)
    assert one.store.read("quick.search.collection=other").status == "interrupted"
    assert rows["base"].objective is not None


async def test_what_is_broken_off_is_kept(settings: Settings) -> None:
    one = sweeping(settings, Opened())
    await one.check()
    await one.prepare()
    asked = 0
    with anyio.CancelScope() as scope:

        def on_asked(name: str, more: int) -> None:
            nonlocal asked
            asked += more
            if asked == 20:
                scope.cancel()

        await one.ask(on_asked)
    assert [row.status for row in one.report().rows] == ["done", "partly", "not run"]
    assert one.store.read("quick.mode=keyword").status == "interrupted"
    assert len(one.store.read("quick.mode=keyword").outcomes) == 4
    again = await run(sweeping(settings, Opened(), resume=True))
    assert {row.asked for row in again.report().rows} == {16}


async def test_another_objective_asks_only_what_it_needs(settings: Settings) -> None:
    one = await run(sweeping(settings, Opened(), objective="fused.Recall@5", factors={"fusion": ["rrf"]}))
    outcome = next(iter(one.store.read("quick.base").outcomes.values()))
    assert [channel.name for channel in outcome.channels] == ["fused"]
    assert outcome.answer is None
    answered = sweeping(settings, Opened(), name="answers", objective="answer.citation_validity")
    await run(answered)
    assert next(iter(answered.store.read("answers.base").outcomes.values())).answer is not None


def test_questions_are_a_part_that_leaves_the_rest_for_a_test(settings: Settings) -> None:
    sweep = read_sweep({**QUICK, "every": 2, "sample": 3}, settings=settings)
    asked = questions_of(sweep, DATA)
    assert len(asked.cases) == 3
    assert {case.case_id for case in asked.cases} <= set(WORDS[::2])
    assert asked.digest != DATA.digest
    with pytest.raises(InputError, match="has 1 questions"):
        questions_of(replace(sweep, sample=1), DATA)


async def test_the_opened_desk_has_the_settings_it_was_given(settings: Settings) -> None:
    async with opened_desk(replace(settings, top_k=3)) as desk:
        assert isinstance(desk, refdesk.Desk)
        assert desk.settings.top_k == 3


async def test_models_are_known_by_name_before_anything_runs(settings: Settings) -> None:
    one = sweeping(
        settings, Opened(), factors={"llm": ["gpt"]}, base={"pipeline": "simple", "judge": "opnai:x"}
    )
    with pytest.raises(InputError) as caught:
        await one.check()
    assert "has 2 problems" in str(caught.value)
    assert "llm=gpt: The model string 'gpt' cannot be read" in str(caught.value)
    assert "Did you mean openai:x?" in str(caught.value)


def test_questions_without_documents_are_about_the_settings_collection(settings: Settings) -> None:
    assert sweeping(settings, Opened(), BARE).collection == settings.collection
    assert sweeping(settings, Opened()).collection == "eval-metals"
    assert sweeping(settings, Opened(), collection="mine").collection == "mine"
