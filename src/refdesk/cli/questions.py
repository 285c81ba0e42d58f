"""Questions of a data set, read and asked for the commands that look at their scores."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from refdesk.cli.progress import counting, ingest_progress
from refdesk.cli.session import Session
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.desk import Desk
    from refdesk.evaluation.calibrating.asking import Ask, Asked
    from refdesk.evaluation.calibrating.scorefile import ScoreFile
    from refdesk.evaluation.datasets.beir import Beir
    from refdesk.evaluation.datasets.cases import DataSet


def read_questions(source: str, split: str, collection: str | None) -> "DataSet":
    """Read a data set of any layout; a folder without a corpus is about a collection, which has to be named.

    Errors: `SourceError`, `InputError` where it is not named.
    """
    from refdesk.evaluation.datasets.beir import CORPUS
    from refdesk.evaluation.datasets.reading import read_data

    bare = Path(source).is_dir() and not (Path(source) / CORPUS).is_file()
    data = read_data(source, split=split, corpus=not bare)
    if bare and collection is None:
        raise InputError(
            f"The folder {source!r} has no {CORPUS}, and no collection is named.",
            remedy="Name the collection that the questions are about with --collection.",
        )
    return data


async def brought(session: Session, desk: "Desk", data: "DataSet", collection: str) -> tuple[str, ...]:
    """Bring what the data brings into a collection; return what has to be said of it before any figure."""
    from refdesk.evaluation.datasets.goldcheck import lost_gold, lost_in_words, stored_gold
    from refdesk.evaluation.datasets.reading import ingest_data, whole_documents

    with ingest_progress(session) as listener:
        await ingest_data(desk, data, collection=collection, on_event=listener)
    documents = whole_documents(data)
    stored = await stored_gold(desk, documents, collection=collection)
    lost = lost_in_words(lost_gold(documents.cases, stored))
    follow = sum(bool(case.history) for case in data.cases)
    said = f"Asked without what was said before: {follow} of the questions are of a conversation."
    return tuple(dict.fromkeys((*data.warnings, *lost, *([said] if follow else []))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What is asked, read before anything long begins."""

    source: "DataSet"
    data: "Beir"
    """Those on topic, as far as they are asked."""
    collection: str
    off_name: str
    """Where those off topic are from."""
    off_topic: "Mapping[str, str]"

    @classmethod
    def read(
        cls,
        session: Session,
        source: str,
        split: str,
        off_topic: str | None,
        collection: str | None,
        limit: int | None,
        off_topic_limit: int,
        seed: int,
    ) -> Self:
        """Read them; those that the data says are not answered are off topic, beside `off_topic`."""
        from refdesk.evaluation.calibrating.asking import sample
        from refdesk.evaluation.datasets.beir import data_name
        from refdesk.evaluation.datasets.beircases import as_beir

        found = read_questions(source, split, collection)
        whole = as_beir(found)
        own = {case.case_id: case.question for case in found.cases if not case.answerable}
        names = [*([found.name] if own else []), *([data_name(off_topic)] if off_topic else [])]
        off = {**own, **_beside(own, off_topic)}
        usual = f"eval-{found.name}" if found.documents else session.settings().collection
        return cls(
            source=found,
            data=replace(whole, queries=sample(whole.queries, limit, seed)),
            collection=collection or usual,
            off_name=", ".join(names),
            off_topic=sample(off, off_topic_limit, seed),
        )

    def __len__(self) -> int:
        return len(self.data.queries) + len(self.off_topic)


def _beside(own: "Mapping[str, str]", source: str | None) -> "Mapping[str, str]":
    """Read questions off topic from a file of any form; ids that are taken are told apart."""
    from refdesk.evaluation.datasets.beir import read_queries
    from refdesk.evaluation.datasets.casefile import YAML
    from refdesk.evaluation.datasets.reading import read_data

    if source is None:
        return {}
    if Path(source).suffix.lower() in YAML:
        found = {case.case_id: case.question for case in read_data(source, corpus=False).cases}
    else:
        found = dict(read_queries(source))
    return {f"{name} of {source}" if name in own else name: text for name, text in found.items()}


async def asked_all(
    session: Session,
    desk: "Desk",
    questions: Questions,
    scores: str | None,
    plot: str | None,
    excerpt: int | None,
) -> "tuple[Asked, ...]":
    """Ask what is not in the file of scores; what is asked is kept there, also where it is broken off."""
    from refdesk.evaluation.calibrating.asking import desk_ask
    from refdesk.evaluation.calibrating.scorefile import ScoreFile, about
    from refdesk.steps import Rerank

    if plot:
        from refdesk.evaluation.calibrating.plots import check_plot

        check_plot(plot)
    data, name = questions.data, questions.collection
    for warning in await brought(session, desk, questions.source, name):
        session.note(f"warning: {warning}")
    ask = desk_ask(desk, collection=name, rerank=Rerank(excerpt=excerpt, on_error="stop"))
    if scores is None:
        return await _ask(session, questions, ask, None)
    depends = await about(desk, data=data.name, split=data.split, collection=name, excerpt=excerpt)
    file = ScoreFile(scores, depends)
    with closing(file):
        return await _ask(session, questions, ask, file)


async def _ask(
    session: Session, questions: Questions, ask: "Ask", file: "ScoreFile | None"
) -> "tuple[Asked, ...]":
    import anyio

    from refdesk.evaluation.calibrating.asking import ask_all

    try:
        with counting(session, len(questions)) as count:

            def take(asked: "Asked") -> None:
                if file:
                    file.add(asked)
                count("on topic" if asked.on_topic else "off topic")

            known = file.known if file else None
            return await ask_all(questions.data, questions.off_topic, ask, known=known, on_asked=take)
    except anyio.get_cancelled_exc_class():
        session.note(KEPT if file else NOT_KEPT)
        raise


KEPT = "The scores so far are kept; run the same command again to go on."
NOT_KEPT = "No scores are kept; `--scores FILE` keeps them, so that another run goes on."
