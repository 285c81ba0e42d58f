"""What 200 questions at once take beside one: the preset `modular`, with a model of 50 ms a call.

The model is scripted and waits as a remote one would. `remote` searches with a function that takes 50 ms,
too, so that what is measured is this library's own work; `local` searches a library on disk with this
machine's cores, which then are the limit.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import refdesk
from refdesk.configuration import load_pipeline
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.pipeline import Pipeline
from refdesk.steps import Search
from refdesk.testing import HashingEmbedder

WAIT, AT_ONCE, ROUNDS = 0.05, 200, 5
QUESTION = "Hi! How many days of leave do I get, and when does the kitchen close?"
TEXTS = {
    "leave": "Employees get 30 days of leave per year. Unused leave expires in March.",
    "kitchen": "The kitchen closes at six. Please clean the coffee machine on Fridays.",
    "travel": "Trains are booked in second class. Flights need the approval of the head.",
}
REPLIES = {
    "needs_retrieval": '{"needs_retrieval": true, "reasoning": "It asks about the documents."}',
    "sub_questions": '{"sub_questions": ["days of leave", "closing time of the kitchen"]}',
    "follow_up_query": '{"sufficient": true}',
    '"scores"': '{"scores": {"1": 9, "2": 8, "3": 2}}',
    "markers": "Leave is 30 days a year [[1]]. The kitchen closes at six [[2]].",
}


class Scripted:
    """Replies to each step of the preset, after a wait."""

    name = "scripted"

    async def stream(self, messages: tuple[Message, ...], options: Options = DEFAULTS) -> Any:
        await asyncio.sleep(WAIT)
        asked = messages[0].text
        yield next((reply for word, reply in REPLIES.items() if word in asked), "leave kitchen hours")


def with_searcher(pipeline: Pipeline, searcher: Any) -> Pipeline:
    steps = (Search(searcher=searcher) if isinstance(step, Search) else step for step in pipeline.steps)
    return Pipeline(tuple(steps))


async def seconds_for(desk: refdesk.Desk, pipeline: Pipeline, times: int) -> float:
    async def one() -> Context:
        context = await desk.run(pipeline, QUESTION, llm=Scripted())
        context.raise_for_error()
        assert context.answer is not None
        assert len(context.citations) == 2, context.answer
        return context

    began = time.perf_counter()
    contexts = await asyncio.gather(*(one() for _ in range(times)))
    taken = time.perf_counter() - began
    assert len({id(context) for context in contexts}) == times
    return taken


async def main(kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        async with refdesk.aopen(Path(scratch) / "library", embedder=HashingEmbedder()) as desk:
            for name, text in TEXTS.items():
                await desk.ingest_text(text, source_id=name)
            found: list[Hit] = list((await desk.search("leave kitchen travel")).hits)

            async def remote(question: str, collection: str) -> list[Hit]:
                await asyncio.sleep(WAIT)
                return found

            modular = load_pipeline("modular")
            for kind in kinds or ("remote", "local"):
                pipeline = with_searcher(modular, remote) if kind == "remote" else modular
                await seconds_for(desk, pipeline, 5)
                ones, manys = [], []
                for _ in range(ROUNDS):
                    ones.append(await seconds_for(desk, pipeline, 1))
                    manys.append(await seconds_for(desk, pipeline, AT_ONCE))
                ratio = median(many / one for one, many in zip(ones, manys, strict=True))
                print(
                    f"searches {kind:6}  one run {median(ones) * 1000:6.0f} ms  "
                    f"{AT_ONCE} at once {median(manys) * 1000:6.0f} ms  {ratio:.2f} x"
                )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
