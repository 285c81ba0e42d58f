"""Which language a text is in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.analysis import detect_language
from refdesk.analysis.languages import plausible_languages

SENTENCES = {
    "en": "The library is open every day from nine in the morning until eight in the evening.",
    "de": "Die Bibliothek ist jeden Tag von neun Uhr morgens bis acht Uhr abends geöffnet.",
    "fr": "La bibliothèque est ouverte tous les jours de neuf heures du matin à huit heures du soir.",
    "es": "La biblioteca está abierta todos los días desde las nueve de la mañana hasta las ocho.",
    "it": "La biblioteca è aperta tutti i giorni dalle nove del mattino alle otto di sera.",
    "nl": "De bibliotheek is elke dag geopend van negen uur 's ochtends tot acht uur 's avonds.",
    "sv": "Biblioteket är öppet varje dag från klockan nio på morgonen till åtta på kvällen.",
    "pl": "Biblioteka jest otwarta codziennie od dziewiątej rano do ósmej wieczorem.",
    "tr": "Kütüphane her gün sabah dokuzdan akşam sekize kadar açıktır.",
    "vi": "Thư viện mở cửa hàng ngày từ chín giờ sáng đến tám giờ tối.",
    "ru": "Библиотека открыта каждый день с девяти часов утра до восьми часов вечера.",
    "uk": "Бібліотека відкрита щодня з дев'ятої години ранку до восьмої години вечора.",
    "el": "Η βιβλιοθήκη είναι ανοιχτή κάθε μέρα από τις εννέα το πρωί.",
    "ar": "المكتبة مفتوحة كل يوم من الساعة التاسعة صباحا حتى الثامنة مساء.",
    "fa": "کتابخانه هر روز از ساعت نه صبح تا هشت شب باز است.",
    "he": "הספרייה פתוחה בכל יום מתשע בבוקר ועד שמונה בערב.",
    "hi": "पुस्तकालय हर दिन सुबह नौ बजे से रात आठ बजे तक खुला रहता है।",
    "th": "ห้องสมุดเปิดทุกวันตั้งแต่เก้าโมงเช้าถึงสองทุ่ม",
    "zh": "图书馆每天早上九点到晚上八点开放。",
    "ja": "図書館は毎日午前九時から午後八時まで開いています。",
    "ko": "도서관은 매일 오전 아홉 시부터 저녁 여덟 시까지 문을 엽니다.",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_sentences_are_told_apart(language: str, text: str) -> None:
    assert detect_language(text) == language
    assert detect_language(text * 500) == language


@pytest.mark.parametrize("text", ["", "   ", "12345 67-89", "OK", "numpy", "🚀🚀🚀", "\x00"])
def test_too_little_is_undetermined(text: str) -> None:
    assert detect_language(text) == "und"


@pytest.mark.parametrize(
    ("text", "language"), [("数据库", "zh"), ("ひらがな", "ja"), ("검색", "ko"), ("ไทย", "th")]
)
def test_a_script_of_one_language_decides_at_once(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_foreign_names_do_not_decide() -> None:
    assert detect_language(SENTENCES["en"] + " It is called 図書館 in Japanese.") == "en"


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_has_a_code(text: str) -> None:
    assert detect_language(text) == "und" or len(detect_language(text)) == 2


def test_a_query_is_in_one_of_the_languages_of_the_documents() -> None:
    assert plausible_languages("Wann ist die Bibliothek geöffnet?", ["en", "de", "fr"]) == ["de"]
    assert plausible_languages("When is the library open?", ["de", "en", "und"]) == ["en", "und"]
    assert plausible_languages("Wann ist die Bibliothek geöffnet?", ["en"]) == ["en"]
    assert plausible_languages("数据库", ["en", "zh", "und"]) == ["zh", "und"]
    assert plausible_languages("anything", []) == []


def test_a_query_that_may_be_in_several_has_several() -> None:
    assert len(plausible_languages("data", ["en", "de", "fr", "tr"])) > 1


@settings(max_examples=100, deadline=None)
@given(st.text(), st.lists(st.sampled_from(["en", "de", "zh", "und", "xx"]), unique=True, min_size=1))
def test_the_plausible_are_among_the_given(text: str, among: list[str]) -> None:
    chosen = plausible_languages(text, among)
    assert chosen
    assert set(chosen) <= set(among)
    assert ("und" in chosen) == ("und" in among)
