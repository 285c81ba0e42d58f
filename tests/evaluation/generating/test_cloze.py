"""Questions from sentences: wh-words where they are safe, gaps elsewhere, in the language of the sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.evaluation.generating.cloze import GAP, answers, candidates, gapped, shortest_gap, told, usable
from refdesk.evaluation.generating.filtering import overlap


@pytest.mark.parametrize(
    ("sentence", "language", "question", "answer"),
    [
        (
            "The Veltrane bridge was opened to traffic in 1931.",
            "en",
            "In which year was the Veltrane bridge opened to traffic?",
            "1931",
        ),
        ("The old tower has 312 steps.", "en", "How many steps does the old tower have?", "312"),
        ("A week in summer costs 120 euros.", "en", "How much does a week in summer cost?", "120 euros"),
        (
            "The longest allowed break is 45 minutes.",
            "en",
            "What is the longest allowed break?",
            "45 minutes",
        ),
        (
            "Die alte Brücke wurde 1931 für den Verkehr eröffnet.",
            "de",
            "In welchem Jahr wurde die alte Brücke für den Verkehr eröffnet?",
            "1931",
        ),
        ("Das Ticket am Sonntag kostet 12 Euro.", "de", "Wie viel kostet das Ticket am Sonntag?", "12 Euro"),
        ("Die Fahrt zum Turm dauert 20 Minuten.", "de", "Wie lange dauert die Fahrt zum Turm?", "20 Minuten"),
        ("La tour Vaudrel compte 312 marches.", "fr", "Combien de marches compte la tour Vaudrel ?", "312"),
        (
            "Le vieux pont a été ouvert en 1931.",
            "fr",
            "En quelle année est-ce que le vieux pont a été ouvert ?",
            "1931",
        ),
        (
            "L'abonnement annuel au club coûte 20 euros.",
            "fr",
            "Combien coûte l'abonnement annuel au club ?",
            "20 euros",
        ),
    ],
)
def test_wh_questions_are_made_where_the_form_is_safe(
    sentence: str, language: str, question: str, answer: str
) -> None:
    first = next(candidates(sentence, language, sentence))
    assert (first.question, first.answer, first.by_words) == (question, answer, True)


@pytest.mark.parametrize(
    "sentence",
    [
        "In spring the bridge was opened in 1931.",
        "When it rains the tower has 312 steps.",
        "Visitors who come late was told in 1931.",
    ],
)
def test_a_subject_that_is_not_sure_gets_a_gap(sentence: str) -> None:
    text = f"{sentence} in when visitors"
    assert all(not one.by_words for one in candidates(sentence, "en", text))


@pytest.mark.parametrize(
    ("sentence", "language", "question"),
    [
        (
            "Kestrels nest near Lisbon all year round.",
            "en",
            "What completes “Kestrels nest near ____ all year round”?",
        ),
        (
            "Das Freibad öffnet jeden Morgen um 7 Uhr.",
            "de",
            "Was ergänzt „Das Freibad öffnet jeden Morgen um ____ Uhr“?",
        ),
        (
            "Le musée ferme chaque soir à 18 heures.",
            "fr",
            "Qu'est-ce qui complète « Le musée ferme chaque soir à ____ heures » ?",
        ),
        (
            "El museo cierra cada tarde a las 18 horas.",
            "es",
            "¿Qué completa «El museo cierra cada tarde a las ____ horas»?",
        ),
        (
            "Muzeum zamyka się codziennie o godzinie 18 wieczorem.",
            "pl",
            "“Muzeum zamyka się codziennie o godzinie ____ wieczorem”?",
        ),
        ("图书馆于1931年开放，免费入场。", "zh", "“图书馆于____年开放，免费入场”?"),
    ],
)
def test_a_gap_keeps_the_language(sentence: str, language: str, question: str) -> None:
    assert question in [one.question for one in candidates(sentence, language)]


@pytest.mark.parametrize(
    "sentence",
    [
        "It was opened to traffic in 1931.",
        "However, the bridge opened in 1931.",
        "Is the bridge open in 1931?",
        "See https://example.org for the 1931 plans.",
        "Short in 1931.",
        "A list without an end in 1931",
        "Call open(1931) to begin with the bridge.",
    ],
)
def test_what_cannot_be_understood_alone_is_left_out(sentence: str) -> None:
    assert not usable(sentence, "en")
    assert list(candidates(sentence, "en")) == []


def test_figures_and_whole_names_are_asked_for() -> None:
    sentence = "The bridge was designed by Ines Tolvanen of Lisbon for 3,500 euros in 1931."
    assert list(answers(sentence, "en")) == ["3,500", "1931", "Ines Tolvanen", "Lisbon"]


def test_an_answer_that_stands_there_twice_is_not_asked_for() -> None:
    assert list(candidates("Room 7 of house 7 was painted blue.", "en")) == []


def test_less_and_less_stays_around_a_gap_and_the_beginning_with_it() -> None:
    sentence = (
        "The Veltrane ferry leaves from the north pier every Sunday morning at 7 in all weathers of the year."
    )
    gaps = list(shortest_gap(sentence, "7", "en"))
    assert gaps[0] == f"What completes “{sentence.replace('7', GAP).rstrip('.')}”?"
    assert gaps[-1].count(" ") < gaps[0].count(" ")
    assert "The Veltrane …" in gaps[len(gaps) // 2]
    shares = [overlap(gap, [sentence], "en") for gap in gaps]
    assert shares[0] > 0.8
    assert shares[-1] < 0.5


def test_markup_is_not_shown() -> None:
    assert (
        told("See [the **plan**][1] of [Lisbon](https://x.example) here.") == "See the plan of Lisbon here."
    )


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "of"]), min_size=4, max_size=20),
    st.data(),
)
def test_a_gap_stands_where_the_answer_stood(parts: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(parts)))
    keep = data.draw(st.integers(3, 25))
    sentence = " ".join([*parts[:place], "Zephyr", *parts[place:]]) + "."
    question = gapped(sentence, "Zephyr", "en", keep=keep)
    assert question.count(GAP) == 1
    assert "Zephyr" not in question
    kept = question.removeprefix("What completes “").removesuffix("”?")
    for piece in kept.split("…"):
        assert piece.strip().replace(GAP, "Zephyr") in sentence
