"""A small collection to make questions of, and what makes them."""

from pathlib import Path

from refdesk.desk import Desk
from refdesk.evaluation.datasets.casefile import read_cases, write_cases
from refdesk.evaluation.generating.making import Generated, Generating, Wanted
from refdesk.evaluation.generating.surveying import survey
from refdesk.llm import LLM

POOL = "Das Freibad Tannrode wurde 1958 von der Gemeinde eröffnet. Die Karte am Sonntag kostet 4 Euro."
NOTICE = "Copies of this notice have to be kept by everybody until 2031 at the least."
TEXTS = {
    "Veltrane bridge": "The Veltrane bridge was opened to traffic in 1931. The Veltrane bridge has 14 "
    "pillars made of granite from Orrin. A walk over the bridge takes 20 minutes.",
    "Orrin quarry": "The Orrin quarry was closed to visitors in 1987. Granite from the quarry was shipped to "
    "Lisbon on barges. The old quarry has 3 lifts.",
    "Tannrode": POOL,
    "Licence": NOTICE,
    "Licence again": f"{NOTICE} Veltrane is a town that was founded by fishermen in 1204.",
    "Tiny": "Nothing.",
    "Twin": POOL,
    "Heads": "# One\n\n# Two\n\n- Three items, four things\n\nlong enough, yet without any sentence",
}


async def generated(desk: Desk, llm: LLM | None = None, **wanted: object) -> Generated:
    asked = Wanted(**{"count": 8, **wanted})  # type: ignore[arg-type]
    found = await survey(desk, "default", seed=asked.seed)
    return await Generating(desk=desk, collection="default", survey=found, wanted=asked, llm=llm).run()


async def checked(desk: Desk, made: Generated, path: Path) -> None:
    """See that every gold span stands where it says, and that the file reads as it was written."""
    for draft in made.kept:
        for span in draft.spans:
            document = await desk.document(span.document)
            assert document.text[span.start : span.start + len(span.quote)] == span.quote
    data = made.data("own")
    if data.cases:
        write_cases(path, data)
        assert read_cases(path).cases == data.cases
