import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from refdesk.context import Usage
from refdesk.errors import InputError, StoreError
from refdesk.evaluation.datasets.beir import read_beir
from refdesk.evaluation.searching.finders import Finder, Found
from refdesk.evaluation.searching.report import Ranking
from refdesk.evaluation.searching.retrieval import Known, RankingFile, evaluate_retrieval
from refdesk.testing.rerankers import sample_hit

pytestmark = pytest.mark.anyio

FOUND = {
    "How many days of leave?": ("library", "leave", "library"),
    "Do Erlang processes share memory?": ("library",),
}
ABOUT: dict[str, str | int] = {"data": "tiny set"}


class Canned:
    """Finds what it was told to, at a price, and fails in part where it was told so."""

    def __init__(self, *, backwards: bool = False, failing: str = "") -> None:
        self.asked: list[str] = []
        self.backwards, self.failing = backwards, failing

    async def __call__(self, question: str) -> Found:
        self.asked.append(question)
        names = FOUND[question][::-1] if self.backwards else FOUND[question]
        hits = [sample_hit(f"{name} {at}", source_id=name) for at, name in enumerate(names)]
        usage = Usage(requests=len(self.asked), input_tokens=100, output_tokens=10)
        return Found(hits, usage, ("decompose",) if question == self.failing else ())


def finders(*finds: Canned) -> list[Finder]:
    return [Finder(name=f"way {number}", find=find, version="1") for number, find in enumerate(finds, 1)]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "found.jsonl"


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


async def test_every_query_is_asked_of_every_finder(folder: Path) -> None:
    one, two, seen = Canned(), Canned(), []
    report = await evaluate_retrieval(
        read_beir(folder), finders(one, two), on_ranking=lambda made: seen.append((made.way, made.query_id))
    )
    assert [way.name for way in report.ways] == ["way 1", "way 2"]
    assert one.asked == two.asked == list(FOUND)
    assert seen == [("way 1", "q1"), ("way 1", "q2"), ("way 2", "q1"), ("way 2", "q2")]
    assert (report.data, report.documents, report.queries) == ("tiny set", 4, 2)


async def test_scores_are_of_documents(folder: Path) -> None:
    report = await evaluate_retrieval(read_beir(folder), finders(Canned()))
    way = report.ways[0]
    first, second = way.queries
    assert first.documents == ("library", "leave")
    assert (first.scores["Recall@2"], first.scores["MRR@10"]) == (1.0, 1.0)
    assert second.scores["Recall@100"] == 0.0
    assert way.scores["Recall@2"] == 0.5
    assert 0 <= way.p50 <= way.p95


async def test_what_a_model_was_asked_and_what_failed_is_counted(folder: Path) -> None:
    canned = Canned(failing="Do Erlang processes share memory?")
    [way] = (await evaluate_retrieval(read_beir(folder), finders(canned))).ways
    assert (way.requests, way.tokens, way.failed) == (1.5, 110.0, 1)
    assert [query.failures for query in way.queries] == [(), ("decompose",)]


async def test_a_report_becomes_json(folder: Path) -> None:
    report = await evaluate_retrieval(read_beir(folder), finders(Canned()))
    short, long = report.to_json(), report.to_json(per_query=True)
    assert json.loads(json.dumps(short))["ways"][0]["name"] == "way 1"
    assert "queries" not in short["ways"][0]
    assert [one["query_id"] for one in long["ways"][0]["queries"]] == ["q1", "q2"]
    assert long["ways"][0]["queries"][0]["relevant"] == {"leave": 2, "library": 1}
    json.dumps(long)


async def test_ways_are_compared_question_by_question(folder: Path) -> None:
    report = await evaluate_retrieval(read_beir(folder), finders(Canned(), Canned(), Canned(backwards=True)))
    base, same, other = report.compared("way 1").ways
    assert base.differences is None
    assert same.differences is not None
    assert {(one.value, one.low, one.high) for one in same.differences.values()} == {(0.0, 0.0, 0.0)}
    assert other.differences is not None
    gap = other.differences["nDCG@10"]
    assert gap.value == pytest.approx(other.scores["nDCG@10"] - base.scores["nDCG@10"])
    assert gap.low <= gap.value <= gap.high
    assert json.dumps(report.compared("way 1").to_json())
    with pytest.raises(InputError, match="'hybrid'; this was measured: way 1, way 2, way 3"):
        report.compared("hybrid")


async def test_judged_documents_that_are_not_there_are_warned_of(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("q1\tgone\t1\nq1\tleave\t1\n")
    report = await evaluate_retrieval(read_beir(folder), finders(Canned()))
    assert "lacks 1 judged" in report.warnings[0]


async def test_a_failing_search_ends_the_run(folder: Path) -> None:
    async def failing(question: str) -> Found:
        raise StoreError("The store is away.")

    with pytest.raises(StoreError, match="away"):
        await evaluate_retrieval(read_beir(folder), [Finder(name="broken", find=failing)])


async def test_what_is_kept_is_not_asked_again(folder: Path, kept: Path) -> None:
    data = read_beir(folder)
    with closing(RankingFile(kept, ABOUT)) as file:
        first = await evaluate_retrieval(data, finders(Canned()), known=file.known, on_ranking=file.add)
    again = Canned()
    with closing(RankingFile(kept, ABOUT)) as file:
        assert list(file.known) == [("way 1", "q1"), ("way 1", "q2")]
        second = await evaluate_retrieval(data, finders(again), known=file.known, on_ranking=file.add)
    assert again.asked == []
    assert second == first
    assert lines(kept) == 3


@pytest.mark.parametrize("change", [{"version": "2"}, {"question": "Another question?"}])
async def test_what_is_kept_of_something_else_is_asked_anew(folder: Path, change: dict[str, str]) -> None:
    data, made = read_beir(folder), dict[tuple[str, str], Ranking]()
    await evaluate_retrieval(
        data, finders(Canned()), on_ranking=lambda one: made.update({(one.way, one.query_id): one})
    )
    known: Known = {**made, ("way 1", "q2"): replace(made["way 1", "q2"], **change)}  # type: ignore[arg-type]
    again = Canned()
    await evaluate_retrieval(data, finders(again), known=known)
    assert again.asked == ["Do Erlang processes share memory?"]


async def test_another_version_replaces_what_was_kept(folder: Path, kept: Path) -> None:
    data = read_beir(folder)
    for version in ("1", "2"):
        finder = replace(finders(Canned())[0], version=version)
        with closing(RankingFile(kept, ABOUT)) as file:
            await evaluate_retrieval(data, [finder], known=file.known, on_ranking=file.add)
    with closing(RankingFile(kept, ABOUT)) as file:
        assert {one.version for one in file.known.values()} == {"2"}
    assert lines(kept) == 3


def test_rankings_are_not_scores(kept: Path) -> None:
    kept.write_text(json.dumps(ABOUT) + '\n{"query_id": "q1", "score": 0.5}\n', "utf-8")
    with pytest.raises(InputError, match=r"The file of rankings .*found\.jsonl' cannot be read"):
        RankingFile(kept, ABOUT)
