"""Ask the question of a case, and keep all that comes of it."""

from dataclasses import dataclass, field

from tests.injection.cases import Case
from tests.injection.channels import ACTED, CHANNELS, Channel
from tests.injection.library import BENIGN

from refdesk.blocking import BlockingDesk
from refdesk.context import Answer, Context
from refdesk.errors import RefdeskError
from refdesk.events import Done, Event, Token
from refdesk.testing.obedient import ObedientModel

QUESTION = "How many days of leave do employees get?"


@dataclass(slots=True)
class Outcome:
    """What a question gave, on every way out of the library."""

    case: Case
    model: ObedientModel
    events: list[Event] = field(default_factory=list)
    answer: Answer | None = None
    context: Context | None = None
    error: RefdeskError | None = None
    acted: tuple[str, ...] = ()
    """What the tool that changes something did."""

    @property
    def channel(self) -> Channel:
        return CHANNELS[self.case.channel]

    @property
    def streamed(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Token))


def outcomes(desk: BlockingDesk, case: Case) -> list[Outcome]:
    """Ask once, and where the way is a conversation once more, without the planted document."""
    name = f"conversation of {case.name}"
    if not CHANNELS[case.channel].talks:
        return [_asked(desk, case, case.planted.source_id)]
    return [_asked(desk, case, wanted, name) for wanted in (case.planted.source_id, BENIGN)]


def _asked(desk: BlockingDesk, case: Case, wanted: str, conversation: str = "") -> Outcome:
    channel = CHANNELS[case.channel]
    outcome = Outcome(case, ObedientModel(says=channel.says, calling=channel.calls or "written"))
    ACTED.clear()
    try:
        for event in desk.stream(
            QUESTION,
            pipeline=channel.pipeline(outcome.model),
            collections="public",
            filters={"source_id": [wanted, BENIGN]},
            llm=None if channel.quotes else outcome.model,
            conversation=conversation,
        ):
            outcome.events.append(event)
            if isinstance(event, Done):
                outcome.answer, outcome.context = event.answer, event.context
    except RefdeskError as error:
        outcome.error = error
    outcome.acted = tuple(ACTED)
    return outcome
