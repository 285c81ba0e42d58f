"""The form of a question file: values that know their lines to cases, and cases to plain values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from refdesk.context import Turn
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, Gold, Need
from refdesk.yamlvalues import Fault, Value

T = TypeVar("T")

CASE_KEYS = ("id", "question", "expected", "answer", "answers", "tags", "off_topic", "conversation")
DOCUMENT_KEYS = ("id", "title", "text", "language")
GOLD_KEYS = ("document", "quote", "start")
ROLES = ("user", "assistant")
NO_GOLD = "Name documents; where they do not answer the question, write `off_topic: true` instead."
EXPECTED = "Write a document's id, {document, quote}, a list of alternatives, or {all_of: [...]}."


class Form:
    """Reads values and collects all that is wrong with them in `faults`."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def wrong(self, value: Value, reason: str, remedy: str = "") -> None:
        self.faults.append(Fault(value.line, reason, remedy))

    def mapping(self, value: Value, what: str, keys: Sequence[str]) -> Mapping[str, Value]:
        """Return the entries of a mapping that are known."""
        if not isinstance(value.data, dict):
            self.wrong(value, f"{what} is {value.plain!r:.60}.", f"Write {', '.join(keys)} and their values.")
            return {}
        for key in value.data.keys() - set(keys):
            near = get_close_matches(key, keys, 1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(keys)}."
            self.wrong(value.data[key], f"{what} has the unknown key {key!r:.60}.", remedy)
        return {key: one for key, one in value.data.items() if key in keys}

    def text(self, value: Value | None, what: str, owner: Value, *, blank: bool = False) -> str:
        """Return a text, as a rule one that is not blank; whole numbers are taken as they are written."""
        if value is None:
            self.wrong(owner, f"{what} is missing.")
            return ""
        data = value.data
        if isinstance(data, int) and not isinstance(data, bool):
            return str(data)
        if not isinstance(data, str):
            self.wrong(value, f"{what} is {value.plain!r:.60}, not a text.", "Put it in quotes.")
            return ""
        if not (blank or data.strip()):
            self.wrong(value, f"{what} is empty.")
        elif not _encodes(data):
            self.wrong(value, f"{what} is no Unicode text: {data!r:.60}.", "Remove the half characters.")
        return data

    def several(self, value: Value | None, what: str, read: Callable[[Value], T]) -> tuple[T, ...]:
        """Return the values of a list; a value alone is a list of one."""
        if value is None:
            return ()
        if isinstance(value.data, list) and not value.data:
            self.wrong(value, f"{what} is empty.", "Leave it out.")
        return tuple(map(read, value.data if isinstance(value.data, list) else [value]))

    def one_of(self, value: Value, what: str, allowed: Sequence[Any]) -> Any:
        if not any(type(value.data) is type(one) and value.data == one for one in allowed):
            shown = ", ".join(str(one).lower() for one in allowed)
            self.wrong(value, f"{what} is {value.plain!r:.60}.", f"Allowed are {shown}.")
        return value.data


def read_case(form: Form, value: Value) -> Case:
    """Read one question; what is wrong with it is in the form's faults, and the case is then of no use."""
    found = form.mapping(value, "The question", CASE_KEYS)
    off = "off_topic" in found and form.one_of(found["off_topic"], "off_topic", (True, False)) is True
    for key in ("expected", "answer", "answers"):
        if off and key in found:
            form.wrong(found[key], f"A question off topic has {key!r}.", "Leave one of them out.")
    if "answer" in found and "answers" in found:
        form.wrong(found["answers"], "There are both 'answer' and 'answers'.", "Write all into 'answers'.")
    return Case(
        case_id=form.text(found.get("id"), "'id'", value),
        question=form.text(found.get("question"), "'question'", value),
        needs=_needs(form, found["expected"]) if "expected" in found else (),
        answers=_texts(form, found, "answers") or _texts(form, found, "answer"),
        answerable=not off,
        tags=_texts(form, found, "tags"),
        history=form.several(found.get("conversation"), "'conversation'", lambda one: _turn(form, one)),
    )


def read_document(form: Form, value: Value) -> CorpusDocument:
    """Read one document that a question file brings."""
    found = form.mapping(value, "The document", DOCUMENT_KEYS)
    optional = {key: found[key].data for key in ("title", "language") if key in found}
    for key in [key for key, data in optional.items() if not isinstance(data, str) or not _encodes(data)]:
        form.wrong(found[key], f"{key!r} is {optional[key]!r:.60}, not a text.", "Put it in quotes.")
    return CorpusDocument(
        document=form.text(found.get("id"), "'id' of the document", value),
        title=optional.get("title", ""),
        text=form.text(found.get("text"), "'text' of the document", value, blank=True),
        language=optional.get("language", ""),
    )


def _texts(form: Form, found: Mapping[str, Value], key: str) -> tuple[str, ...]:
    return form.several(found.get(key), f"{key!r}", lambda one: form.text(one, f"{key!r}", one))


def _turn(form: Form, value: Value) -> Turn:
    found = form.mapping(value, "The turn", ("role", "text"))
    role = form.one_of(found["role"], "'role'", ROLES) if "role" in found else None
    if role is None:
        form.wrong(value, "'role' is missing.", f"Allowed are {', '.join(ROLES)}.")
    return Turn(role if role in ROLES else "user", form.text(found.get("text"), "'text'", value))


def _needs(form: Form, value: Value) -> tuple[Need, ...]:
    if not (isinstance(value.data, dict) and "all_of" in value.data):
        return (_need(form, value),)
    inner = form.mapping(value, "'expected'", ("all_of",))["all_of"]
    if not isinstance(inner.data, list) or not inner.data:
        form.wrong(inner, f"'all_of' is {inner.plain!r:.60}, not a list of what is needed.", NO_GOLD)
        return ()
    return tuple(_need(form, one) for one in inner.data)


def _need(form: Form, value: Value) -> Need:
    if isinstance(value.data, list):
        return Need(alternatives=_alternatives(form, value))
    if not isinstance(value.data, dict):
        return Need(alternatives=(_gold(form, value),))
    grade = _number(form, value.data.get("grade"), "'grade'", 1)
    rest = {key: one for key, one in value.data.items() if key != "grade"}
    if "any_of" not in rest:
        return Need(alternatives=(_gold(form, Value(rest, value.line)),), grade=grade)
    inner = form.mapping(Value(rest, value.line), "'expected'", ("any_of",))["any_of"]
    return Need(alternatives=_alternatives(form, inner), grade=grade)


def _alternatives(form: Form, value: Value) -> tuple[Gold, ...]:
    if not isinstance(value.data, list) or not value.data:
        form.wrong(value, f"The alternatives are {value.plain!r:.60}.", NO_GOLD)
        return ()
    return tuple(_gold(form, one) for one in value.data)


def _gold(form: Form, value: Value) -> Gold:
    if not isinstance(value.data, dict):
        if isinstance(value.data, list) or value.data is None:
            form.wrong(value, f"What is expected is {value.plain!r:.60}.", f"{EXPECTED} {NO_GOLD}")
            return Gold(document="")
        return Gold(document=form.text(value, "The document", value))
    found = form.mapping(value, "What is expected", GOLD_KEYS)
    if "start" in found and "quote" not in found:
        form.wrong(
            found["start"], "There is a 'start' without a 'quote'.", "Give the text that starts there."
        )
    return Gold(
        document=form.text(found.get("document"), "'document'", value),
        quote=form.text(found["quote"], "'quote'", value) if "quote" in found else "",
        start=_number(form, found["start"], "'start'", 0) if "start" in found else None,
    )


def _number(form: Form, value: Value | None, what: str, least: int) -> int:
    if value is None:
        return least
    if not isinstance(value.data, int) or isinstance(value.data, bool) or value.data < least:
        form.wrong(value, f"{what} is {value.plain!r:.60}.", f"Give a whole number from {least} on.")
        return least
    return value.data


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def case_data(case: Case) -> dict[str, Any]:
    """Return a case as the plain values of its form."""
    needs = [_need_data(need) for need in case.needs]
    data = {
        "id": case.case_id,
        "question": case.question,
        "expected": needs[0] if len(needs) == 1 else {"all_of": needs} if needs else None,
        "answer": case.answers[0] if len(case.answers) == 1 else None,
        "answers": list(case.answers) if len(case.answers) > 1 else None,
        "tags": list(case.tags) or None,
        "off_topic": None if case.answerable else True,
        "conversation": [{"role": turn.role, "text": turn.text} for turn in case.history] or None,
    }
    return _given(data.items())


def document_data(document: CorpusDocument) -> dict[str, Any]:
    """Return a document as the plain values of its form."""
    values = (document.document, document.title or None, document.text, document.language or None)
    return _given(zip(DOCUMENT_KEYS, values, strict=True))


def _need_data(need: Need) -> Any:
    golds = [_gold_data(gold) for gold in need.alternatives]
    if len(golds) != 1:
        return golds if need.grade == 1 else {"any_of": golds, "grade": need.grade}
    if need.grade == 1:
        return golds[0]
    return {**(golds[0] if isinstance(golds[0], dict) else {"document": golds[0]}), "grade": need.grade}


def _gold_data(gold: Gold) -> Any:
    if not gold.quote and gold.start is None:
        return gold.document
    return _given(zip(GOLD_KEYS, (gold.document, gold.quote or None, gold.start), strict=True))


def _given(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in items if value is not None}
