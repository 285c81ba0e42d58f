"""Names, numbers and code: which tokens they have."""

import pytest

from refdesk.analysis import analyse, analyse_query


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("multi-agent", "multiag multi agent"),
        ("multiagent", "multiag"),
        ("max_length", "maxlength max length"),
        ("maxLength", "maxlength max length"),
        ("HTTPServer", "httpserver http server"),
        ("numpy.linalg", "numpy.linalg numpi linalg"),
        ("numpy.linalg.norm", "numpy.linalg.norm numpy.linalg linalg.norm numpi linalg norm"),
        ("std::vector", "std::vector std vector"),
        ("ubuntu 20.04", "ubuntu 20 20.04"),
        ("20.04.1", "20 20.04 20.04.1"),
        ("v1.2.3", "v1.2.3 1 1.2 1.2.3"),
        ("python3.11", "python3.11 3 3.11 python"),
        ("2024-05-17", "2024 2024-05 2024-05-17"),
        ("1990–2000", "1990 1990-2000 2000"),
        ("10:30", "10 10:30"),
        ("1,234,567", "1234567"),
        ("GPT-4", "gpt4 gpt 4"),
        ("GPT4", "gpt4 gpt 4"),
        ("AB-1234-X", "ab1234x ab 1234 x"),
        ("TNF-α", "tnfα tnf α"),
        ("1st", "1st"),
        ("U.S.A.", "usa"),
        ("don't", "dont"),
        ("we're", "we"),
        ("NASA's", "nasa"),
        ("O'Brien", "obrien brien"),
        ("@nasa", "@nasa nasa"),
        ("#topic", "#topic topic"),
        ("C++", "c++"),
        ("C++17", "c++ 17"),
        ("C#", "c#"),
        (".NET", ".net net"),
        ("AT&T", "at&t at t"),
        ("and/or", "and/or and or"),
        ("jane.doe@example.org", "jane.doe@example.org jane.doe jane doe example.org exampl org"),
        ("/etc/nginx/nginx.conf", "etc/nginx/nginx.conf etc nginx nginx.conf conf"),
        ("src\\main.rs", "src/main.rs src main.rs main rs"),
        ("https://example.org/a?q=1", "example.org/a?q=1 example.org exampl org a q 1"),
        ("(why?)", "whi"),
    ],
)
def test_tokens_of(text: str, tokens: str) -> None:
    assert list(dict.fromkeys(analyse(text, "en"))) == tokens.split()


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        ("l'eau", "fr", "eau"),
        ("qu'elle", "fr", "elle"),
        ("dell'acqua", "it", "acqua"),
        ("Ankara'da", "tr", "ankar"),
        ("об'єкт", "uk", "обєкт"),
        ("EU:n", "fi", "eu:n eu n"),
    ],
)
def test_apostrophes_follow_the_language(text: str, language: str, tokens: str) -> None:
    assert analyse(text, language) == tokens.split()


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("multi-agent", "multi-agent systems"),
        ("multi-agent", "multiagent systems"),
        ("multiagent", "a multi-agent system"),
        ("max_length", "maxLength=5"),
        ("linalg", "numpy.linalg.norm(x)"),
        ("linalg.norm", "numpy.linalg.norm(x)"),
        ("20.04", "Ubuntu 20.04.1 LTS"),
        ("ubuntu 20", "Ubuntu 20.04 LTS"),
        ("1.2.3", "released v1.2.3."),
        ("2024-05", "on 2024-05-17"),
        ("nginx.conf", "edit /etc/nginx/nginx.conf,"),
        ("example.org", "mail jane@example.org;"),
        ("nasa", "follow @nasa"),
        ("gpt4", "GPT-4 is a model"),
        ("phone", "my iPhone"),
        ("rna", "mRNA"),
    ],
)
def test_wholes_and_parts_are_found(query: str, document: str) -> None:
    assert set(analyse_query(query, ["en"])) & set(analyse(document, "en"))


@pytest.mark.parametrize(("query", "document"), [("c++", "c# code"), (".NET", "a gain"), ("2.3", "v1.2.30")])
def test_signs_and_numbers_are_exact(query: str, document: str) -> None:
    assert not set(analyse_query(query, ["en"])) & set(analyse(document, "en"))


def test_a_long_url_is_found_whole() -> None:
    url = "https://docs.example.org/3/library/" + "deep/" * 30 + "page.html"
    tokens = analyse(f"see {url}.", "en")
    assert analyse_query(url, ["en"])[0] in tokens
    assert analyse_query(url.replace("deep", "dive", 1), ["en"])[0] not in tokens
