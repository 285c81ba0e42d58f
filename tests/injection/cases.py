"""The cases: what is asked for, where it is planted, and the way that a question takes."""

from dataclasses import dataclass

from tests.injection.channels import CHANNELS
from tests.injection.payloads import PAYLOADS
from tests.injection.places import PLACES, Planted

WORD_FOR_WORD = ("answer", "review", "quotation")


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
        return PLACES[self.place](f"{self.payload}-{self.place}", PAYLOADS[self.payload])


def cases() -> tuple[Case, ...]:
    """Return every payload on every way, the places in turn, so that every place meets every way, too.

    What stands in a document word for word counts as known to it, so that place gets every payload as well.
    """
    places, found = list(PLACES), []
    for way, channel in enumerate(CHANNELS):
        for number, payload in enumerate(PAYLOADS):
            found.append(Case(payload, places[(number + 5 * (way // 2)) % len(places)], channel))
    plain = [Case(payload, "as-it-stands", channel) for channel in WORD_FOR_WORD for payload in PAYLOADS]
    return tuple(dict.fromkeys([*found, *plain]))


CASES = cases()
