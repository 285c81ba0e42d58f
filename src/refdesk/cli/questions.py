"""Questions of a data set, read and asked for the commands that look at their scores."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from refdesk.cli.progress import counting, ingest_progress
from refdesk.cli.session import Session
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.desk import Desk
    from refdesk.evaluation.calibrating.asking import Asked
    from refdesk.evaluation.calibrating.scorefile import ScoreFile
    from refdesk.evaluation.datasets.beir import Beir


class Questions:
    """What is asked, read before anything long begins."""

    def __init__(
        self,
        data: str,
        split: str,
        off_topic: str | None,
        collection: str | None,
        limit: int | None,
        off_topic_limit: int,
        seed: int,
    ) -> None:
        from dataclasses import replace

        from refdesk.evaluation.calibrating.asking import sample
        from refdesk.evaluation.datasets.beir import CORPUS, data_name, read_beir, read_queries

        self.ingests = (Path(data) / CORPUS).is_file()
        if not self.ingests and collection is None:
            raise InputError(
                f"The folder {data!r} has no {CORPUS}, and no collection is named.",
                remedy="Name the collection that the questions are about with --collection.",
            )
        whole = read_beir(data, split=split, corpus=self.ingests)
        queries = sample(whole.queries, limit, seed)
        self.data: Beir = replace(whole, queries=queries)
        self.split = split
        self.collection = collection or f"eval-{whole.name}"
        self.off_name = data_name(off_topic) if off_topic else ""
        self.off_topic: Mapping[str, str] = (
            sample(read_queries(off_topic), off_topic_limit, seed) if off_topic else {}
        )

    def __len__(self) -> int:
        return len(self.data.queries) + len(self.off_topic)


async def asked_all(
    session: Session, desk: "Desk", questions: Questions, scores: str | None, plot: str | None
) -> "tuple[Asked, ...]":
    """Ask what is not in the file of scores; what is asked is kept there, also where it is broken off."""
    from refdesk.evaluation.calibrating.scorefile import ScoreFile, about
    from refdesk.evaluation.searching.retrieval import ingest_corpus

    if plot:
        from refdesk.evaluation.calibrating.plots import check_plot

        check_plot(plot)
    data, name = questions.data, questions.collection
    if questions.ingests:
        with ingest_progress(session) as listener:
            await ingest_corpus(desk, data, collection=name, on_event=listener)
    if scores is None:
        return await _ask(session, desk, questions, None)
    file = ScoreFile(scores, await about(desk, data=data.name, split=questions.split, collection=name))
    with closing(file):
        return await _ask(session, desk, questions, file)


async def _ask(
    session: Session, desk: "Desk", questions: Questions, file: "ScoreFile | None"
) -> "tuple[Asked, ...]":
    import anyio

    from refdesk.evaluation.calibrating.asking import ask_all, desk_ask

    ask = desk_ask(desk, collection=questions.collection)
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
