"""What is found by what, in every script, and what holds for any text."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.analysis import ANALYSER_VERSION, analyse, analyse_query

LANGUAGES = (
    "und",
    "en",
    "de",
    "fr",
    "tr",
    "vi",
    "ru",
    "el",
    "ar",
    "fa",
    "he",
    "hi",
    "th",
    "km",
    "zh",
    "ja",
    "ko",
)
languages = st.sampled_from(LANGUAGES)
LANCE_KEEPS = 39
IN_ALL_SCRIPTS = """
running étudier Häuser Straße İstanbul Nội Łódź книги ёлка Αθήνα المدارس کتاب שָׁלוֹם हिन्दी ไทย ខ្មែរ မြန်မာ ລາວ
数据库 図書館 カタカナ 검색 தமிழ் বাংলা ქართული հայերեն አማርኛ 𠮷野家
20.04 v1.2.3 C++ C# .NET GPT-4 x86_64 @nasa 2024-05-17
"""
WORDS = IN_ALL_SCRIPTS.split()


def finds(query: str, document: str, language: str) -> bool:
    return set(analyse_query(query, [language])) <= set(analyse(document, language))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_in_a_text_that_has_it(word: str, language: str) -> None:
    assert analyse(word, language)
    for document in (f"before {word} after", f"({word}), etc.", f"“{word}”!", f"\t{word}\u3000"):
        assert finds(word, document, language)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("数据库", "数据库检索系统"),
        ("検索", "全文検索の仕組み"),
        ("東京都", "東京都庁は新宿にある"),
        ("검색", "한국어검색엔진에서검색을"),
        ("ไทย", "ประเทศไทยอยู่ในเอเชีย"),
        ("ภาษา", "ฉันเรียนภาษาไทย"),
        ("ខ្មែរ", "ភាសាខ្មែរ"),
        ("ລາວ", "ພາສາລາວ"),
        ("မြန်မာ", "မြန်မာစာ"),
        ("手机", "iPhone手机壳"),
        ("iphone", "iPhone手机壳"),
    ],
)
def test_words_are_found_where_nothing_separates_them(query: str, document: str) -> None:
    assert finds(query, document, "und")


@pytest.mark.parametrize(
    ("query", "document", "language"),
    [
        ("run", "running", "en"),
        ("ecoles", "écoles", "fr"),
        ("hôpital", "l’hôpital", "fr"),
        ("cafe", "café", "en"),
        ("naive", "naïve", "en"),
        ("Haus", "Häuser", "de"),
        ("STRASSE", "Straße", "de"),
        ("Mueller", "Müller", "de"),
        ("lodz", "Łódź", "pl"),
        ("istanbul", "İSTANBUL'DA", "tr"),
        ("isik", "IŞIK", "tr"),
        ("ha noi", "Hà Nội", "vi"),
        ("книга", "книгами", "ru"),
        ("елка", "ёлки", "ru"),
        ("αθηνα", "ΑΘΉΝΑΣ", "el"),
        ("محمد", "مُحَمَّد", "ar"),
        ("مدرسه", "المدرسة", "ar"),
        ("كتاب", "کـتاب", "ar"),
        ("می‌خواهم", "ميخواهم", "fa"),
        ("שלום", "שָׁלוֹם", "he"),
        ("हिंदी", "हिन्दी", "hi"),
        ("लड़का", "लड़के", "hi"),
        ("2024", "٢٠٢٤", "ar"),
        ("123", "１２３", "ja"),
        ("カタカナ", "ｶﾀｶﾅ", "ja"),
        ("don't", "don’t", "en"),
        ("multi-agent", "multi\u2011agent", "en"),
        ("hyphenated", "hyphen\u00adated", "en"),
        ("nasa", "NASA’s", "en"),
        ("об'єкт", "обʼєкт", "uk"),
    ],
)
def test_spellings_and_forms_of_a_word_meet(query: str, document: str, language: str) -> None:
    assert finds(query, document, language)


@pytest.mark.parametrize(
    ("document", "other"),
    [("मिल", "मोल"), ("ما", "مي"), ("กา", "กี"), ("йод", "иод"), ("ма", "мо"), ("か", "が")],
)
def test_signs_that_make_another_word_are_kept(document: str, other: str) -> None:
    assert set(analyse(document, "und")).isdisjoint(analyse(other, "und"))


def test_vietnamese_accents_count_where_they_are_typed() -> None:
    assert analyse_query("mà", ["vi"]) == ["mà"]
    assert finds("ma", "mà", "vi")
    assert not finds("má", "mà", "vi")


def test_a_query_has_the_stems_of_every_language_it_may_be_in() -> None:
    tokens = analyse_query("Versicherungen", ["en", "de", "und"])
    assert set(analyse("Versicherungen", "de")) <= set(tokens)
    assert set(analyse("Versicherungen", "und")) <= set(tokens)
    assert analyse_query("Versicherungen", []) == analyse("Versicherungen", "und")


def test_a_query_names_each_token_once() -> None:
    assert analyse_query("the cat and the hat", ["en"]) == ["the", "cat", "and", "hat"]


@pytest.mark.parametrize(
    "nothing", ["", " ", "\n\t", "?!", '"', "((", "—", "🚀", "\u200b", "\u0301", "\ud800", "\x00"]
)
def test_what_has_no_word_has_no_token(nothing: str) -> None:
    assert analyse(nothing, "en") == []
    assert analyse_query(nothing, ["en", "zh"]) == []


@settings(max_examples=300, deadline=None)
@given(st.text(), languages)
def test_tokens_of_any_text_can_be_indexed(text: str, language: str) -> None:
    tokens = analyse(text, language)
    assert tokens == analyse(text, language)
    for token in tokens:
        assert token
        assert not any(sign.isspace() for sign in token)
        assert len(token.encode()) <= LANCE_KEEPS


alphabets = st.sampled_from(
    [
        "aZéøßİıǅ09-_.,'/:@#+&",
        "абвёйЙ",
        "αάΆςΣ",
        "ابتأةىًـ",
        "אבָּ",
        "कखिी्ंँ़",
        "กขเาิ่",
        "កខ្ា",
        "မြန်",
        "漢字かなガ",
        "가각ᄀ",
        "a漢б",
    ]
)
texts = alphabets.flatmap(lambda alphabet: st.text(st.sampled_from(alphabet + " "), max_size=24))


@settings(max_examples=400, deadline=None)
@given(texts, languages)
def test_composed_and_decomposed_text_are_the_same(text: str, language: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert analyse(composed, language) == analyse(decomposed, language)


@settings(max_examples=300, deadline=None)
@given(texts, texts, languages)
def test_text_is_analysed_word_by_word(left: str, right: str, language: str) -> None:
    joined = analyse(f"{left} {right}", language)
    assert joined == analyse(left, language) + analyse(right, language)


@settings(max_examples=300, deadline=None)
@given(texts, st.sampled_from(WORDS), texts, languages)
def test_a_word_is_found_in_any_text(left: str, word: str, right: str, language: str) -> None:
    assert finds(word, f"{left} {word} {right}", language)


@settings(max_examples=200, deadline=None)
@given(texts, languages)
def test_the_number_of_tokens_is_bounded_by_the_length(text: str, language: str) -> None:
    assert len(analyse(text, language)) <= 6 * len(unicodedata.normalize("NFKD", text))


WITHOUT_SPACES = "a aB a. a- a_ a/ 1. 1, ,000 a' a1 aα 漢 ก က္က @ a# www. a:// ﷺ donaudampfschiff"
FLOODS = [*WITHOUT_SPACES.split(), "Z\u0301\u0323", "👩\u200d👩\u200d👧"]


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_without_spaces_ends(flood: str) -> None:
    text = flood * (100_000 // len(flood))
    assert len(analyse(text, "de")) <= 6 * len(unicodedata.normalize("NFKD", text))


def test_marks_without_end_are_dropped() -> None:
    assert analyse("Z" + "\u0301\u0323" * 2_000_000, "en") == ["z"]


def test_words_are_found_at_the_end_of_a_long_text() -> None:
    assert analyse("word " * 300_000 + "needle", "en")[-1] == "needl"


def test_long_words_have_tokens_of_their_own() -> None:
    first, second = analyse("x" * 100_000 + "a", "en"), analyse("x" * 100_000 + "b", "en")
    assert first != second
    assert first == analyse_query("X" * 100_000 + "A", ["en"])


def test_threads_do_not_disturb_each_other() -> None:
    texts = [
        f"{word}s{number}ing {word}ungen"
        for number in range(200)
        for word in ("walk", "Häus", "книг", "étud")
    ]
    alone = [analyse(text, language) for text in texts for language in ("en", "de", "ru", "fr")]
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(analyse, text, language) for text in texts for language in ("en", "de", "ru", "fr")
        ]
        assert [job.result() for job in jobs] == alone


def test_the_version_names_these_tokens() -> None:
    """Change `ANALYSER_VERSION` together with this."""
    text = "Krankenversicherung multi-agent numpy.linalg v1.2.3 getUserName l'eau 数据库 ไทย книгами हिन्दी"
    tokens = """
        krankenversicher krank versicher multiagent multi agent numpy.linalg numpy linalg v1.2.3 1 1.2 1.2.3
        getusernam get user nam eau 数 据 库 数据 据库 ไท ย ไทย книг हिंद
    """
    assert ANALYSER_VERSION == "1"
    assert analyse(text, "de") == tokens.split()
