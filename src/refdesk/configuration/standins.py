"""Steps that stand for those that could not be built, so that the order of all is checked all the same."""

from dataclasses import dataclass

from refdesk.pipeline import Kind, Step


@dataclass(frozen=True, kw_only=True)
class StandIn(Step):
    """Has the kind, the name and the blocks of another step. It never runs."""

    written: str
    stands: Kind
    wanted: tuple[Kind, ...] = ()
    inner: tuple[tuple[Step, ...], ...] = ()
    anything: bool = False
    """Whether nothing is known of the other step, so that it may be whatever later steps ask for."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.written

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.stands

    @property
    def required(self) -> tuple[Kind, ...]:
        return self.wanted

    @property
    def blocks(self) -> tuple[tuple[Step, ...], ...]:
        return self.inner


def unknown(written: str) -> StandIn:
    """Return what stands for a step of which not even the kind is known."""
    satisfying: tuple[Kind, ...] = ("retriever", "memory", "answer_generator")
    inner = tuple(StandIn(written=written, stands=kind) for kind in satisfying)
    return StandIn(written=written, stands="control", inner=(inner,), anything=True)
