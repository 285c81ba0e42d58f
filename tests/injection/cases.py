"""The cases: what is asked for, where it is planted, and the way that a question takes."""

from dataclasses import dataclass

from tests.injection.channels import CHANNELS
from tests.injection.payloads import ORDERS, PAYLOADS
from tests.injection.places import PLACES, Planted

WORD_FOR_WORD = ("answer", "review", "quotation")
WANTED = PAYLOADS | ORDERS


@dataclass(frozen=True, slots=True)
class Case:
    payload: str
    place: str
    channel: str

    @property
    def name(self) -> str:
        return f"{self.payload}-{self.place}-{self.channel}"

    @property
    def planted(self) -> Planted:
        return PLACES[self.place](f"{self.payload}-{self.place}", WANTED[self.payload])


def cases() -> tuple[Case, ...]:
    """Return every payload on every way, the places in turn, so that every place meets every way, too.

    What stands in a document word for word counts as known to it, so that place gets every payload as well.
    What would act, or is shown as it was given, comes to every loop where no place changes it.
    """
    places, found = list(PLACES), []
    for way, channel in enumerate(CHANNELS):
        wanted = WANTED if CHANNELS[channel].calls else PAYLOADS
        for number, payload in enumerate(wanted):
            found.append(Case(payload, places[(number + 5 * (way // 2)) % len(places)], channel))
    plain = [Case(payload, "as-it-stands", channel) for channel in WORD_FOR_WORD for payload in PAYLOADS]
    acts = [name for name in ORDERS if name.startswith(("act", "give-up"))]
    loops = [Case(name, "body", channel) for channel, way in CHANNELS.items() if way.calls for name in acts]
    return tuple(dict.fromkeys([*found, *plain, *loops]))


CASES = cases()
