"""Replies of models at their worst, and what has to hold of the answers that are made of them.

The checks read an answer with a Markdown parser of its own, the way a page that shows it would.
"""

import random
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken

from refdesk.answering.writing import write
from refdesk.context import Answer, Evidence, NumberBy
from refdesk.documents import Chunk, Document, Hit, chunk_id
from refdesk.events import Token
from refdesk.evidence import number_hits

_MARKERS = (
    "[[1]] [[2]] [[3]] [[1][2]] [[1,␣3]] [[1],[3]] [1] [2] [3] [1,2] [1-3] [2–3] [1\u00a0] [[␣2␣]] 【1】 "
    "【2†source】 ［3］ 〔1〕 ⟦2⟧ [１] [^1] [*2*] [Source_3] [Source␣2] [evidence␣1] \\[1\\] \\[\\[2\\]\\] "
    "&#91;1&#93; [&#50;] [1，2] [1␣and␣3] [0] [[0]] [-1] [[-2]] [99] [[7,␣1]] [4-9] [[12345]] [1]] [[2] "
    "]] [[ [ [[1"
)
_HOSTILE = (
    "[text](https://evil.example/a) ![i](https://evil.example/p.png) ![](u) "
    "[[1]](https://evil.example) [a][b] [b]: [b]:https://evil.example [x](u) [x]( (u) ]( ]: "
    "<https://evil.example/> <a\thref='https://evil.example'>here</a> <img\tsrc=x\tonerror=y> <img "
    "<script> </script> <!-- --> <b> </b> <int> <stdin> <p> <pre> <![CDATA[ ]]> <?php ?> "
    "https://evil.example/?q=1 http:// https:/ www.evil.example www. javascript:alert(1) "
    "mailto:evil@evil.example evil@evil.example who@ @evil.example <javascript:x> data:text/html,x "
    "https://ok.example/a https://ok.example/a?q=secret &lt;b&gt; &#60; &amp; ` `` ``` ~~~ `[1]` "
    "`[x](u)` ``b`[2]`` `a\\` | |-| a|b --- === # ## > * ** _ ~~ \\ \\\\ \\` \\[ \\] ( ) ! : . , ; ? ' "
    '" { } $ = + 1. 2) -'
)
_WORDS = (
    "leave is 30 days 5,000 x[0] a word Ünï e\u0301 año 那数据 三十天。 سنة שלום \u202eabc\u202c नमस्ते ไทย "
    "👩‍👩‍👧 🇫🇷 ﬁ Å ١ Ⅳ naïve\u200b x\u0301\u0302 \u200f \u00ad \ufeff \x00 \x0c \u2028 \x85 \x1b[31m "
    "\ue000 \U000e0041"
)
_BREAKS = (
    "\n \n\n \r\n \r\n\r\n \r \n```\n \n```py\n \r\n```\r\n \n~~~\n \n␣␣```\n \n␣␣␣~~~\n \n-␣ \n*␣ "
    "\n1.␣ \n>␣ \n␣␣ \n␣␣␣␣ \t ␣ ␣␣ ␣␣␣ ␣␣␣␣"
)


def _split(fragments: str) -> list[str]:
    return [one.replace("␣", " ") for one in fragments.split(" ")]


MARKERS, HOSTILE, WORDS, BREAKS = map(_split, (_MARKERS, _HOSTILE, _WORDS, _BREAKS))
KINDS = (BREAKS, MARKERS, HOSTILE, WORDS)
SHARES = (0.25, 0.3, 0.25, 0.2)
"""Of each kind, in the pieces that a reply is made of."""
OPEN_ADDRESS = "https://ok.example/a"
"""An address that the evidence has, so that an answer may have it, too, as code."""
_ADDRESS = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]*://[\w?#/%]|(?:www\.|mailto:|[a-z0-9._+-]@[\w-]+\.)\w)[^\s<>\"'`\[\](){}|\\^*]*"
)
_SHOWN = re.compile(r"\[(\d+)\]")
_NO_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*\s*/?>")
_READS = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


def reply(chance: random.Random) -> str:
    """Return a reply with markers, links, HTML and code in every broken form."""
    chosen = chance.choices(KINDS, SHARES, k=chance.randint(1, 16))
    return "".join(_piece(chance, kind) for kind in chosen)


def _piece(chance: random.Random, kind: Sequence[str]) -> str:
    piece = chance.choice(kind)
    return piece if kind is BREAKS else piece + chance.choice(("", " ", " "))


def pieces(chance: random.Random, text: str) -> list[str]:
    """Cut a text at random places, as a model's tokens do."""
    longest = chance.choice((1, 4, 12, 80))
    cuts: list[str] = []
    while text:
        size = chance.randint(1, longest)
        cuts.append(text[:size])
        text = text[size:]
    return cuts


def sources(chance: random.Random) -> tuple[tuple[Document, ...], tuple[Evidence, ...]]:
    """Return documents of odd characters and line ends, and three or four chunks of them as evidence."""
    documents = tuple(_document(chance, number) for number in range(2))
    hits = [_hit(chance, chance.choice(documents), number) for number in range(chance.randint(3, 4))]
    return documents, number_hits(hits)


def _document(chance: random.Random, number: int) -> Document:
    kinds = (
        WORDS,
        WORDS,
        ("Employees get thirty days.", "See " + OPEN_ADDRESS + ".", ".", "。", "\r\n", "\n\n"),
    )
    text = "Leave " + " ".join(chance.choice(chance.choice(kinds)) for _ in range(40)) + " end."
    return Document(collection="c", source_id=f"d{number}", title=f"D{number}", text=text)


def _hit(chance: random.Random, document: Document, position: int) -> Hit:
    start = chance.randrange(len(document.text) - 1)
    end = chance.randint(start + 1, len(document.text))
    text = document.text[start:end]
    chunk = Chunk(
        chunk_id=chunk_id(document.document_id, position, text),
        document_id=document.document_id,
        collection=document.collection,
        position=position,
        start=start,
        end=end,
        text=text,
    )
    return Hit(chunk=chunk, title=document.title, url=document.url, source_id=document.source_id)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader's page makes of an answer."""

    tokens: tuple[MarkdownToken, ...]
    prose: str
    """What is seen outside of code."""

    @property
    def markers(self) -> list[int]:
        return [int(number) for number in _SHOWN.findall(_UNSEEN.sub("", self.prose))]

    @property
    def code_has_markers(self) -> bool:
        """Whether something like a marker stands in code, or beside its fence, resolved or not."""
        return any(_SHOWN.search(one.info + one.content) for one in self.tokens if one.type in _CODE)


def read(text: str) -> Reading:
    """Read a text as Markdown with HTML."""
    tokens = tuple(_flat(_READS.parse(text)))
    return Reading(tokens, "".join(map(_seen, tokens)))


def _flat(tokens: Sequence[MarkdownToken]) -> Iterator[MarkdownToken]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _seen(token: MarkdownToken) -> str:
    """Return what a token adds to the prose; code stands for itself with a sign that is no text."""
    if token.type in ("text", "html_inline"):
        return token.content
    return "\x01" if token.type == "code_inline" else "\n" if token.type in _PARTING else ""


_CODE = ("code_inline", "code_block", "fence")
_PARTING = ("softbreak", "hardbreak", "inline", "html_block", "fence", "code_block")


def faults(
    answer: Answer, streamed: Sequence[str], documents: Sequence[Document], evidence: Sequence[Evidence]
) -> tuple[str, ...]:
    """Return what is wrong with an answer: with its stream, its citations, or what a reader can click."""
    reading = read(answer.text)
    return (
        *_of_stream(answer, streamed),
        *_of_citations(answer, documents, evidence),
        *_of_markers(answer, reading),
        *_of_links(reading),
    )


def _of_stream(answer: Answer, streamed: Sequence[str]) -> Iterator[str]:
    if "".join(streamed) != answer.text:
        yield f"streamed {''.join(streamed)!r}, stored {answer.text!r}"
    ends = set(accumulate(map(len, streamed)))
    for marker in _SHOWN.finditer(answer.text):
        if ends & set(range(marker.start() + 1, marker.end())):
            yield f"the marker {marker[0]} was shown in parts"


def _of_citations(
    answer: Answer, documents: Sequence[Document], evidence: Sequence[Evidence]
) -> Iterator[str]:
    texts = {one.document_id: one.text for one in documents}
    chunks = {item.hit.chunk.chunk_id: item.hit.chunk for item in evidence}
    for one in answer.citations:
        chunk = chunks.get(one.chunk_id)
        if chunk is None or chunk.document_id != one.document_id:
            yield f"[{one.marker}] cites what was no evidence"
        elif texts[one.document_id][one.start : one.end] != one.quote:
            yield f"[{one.marker}] quotes {one.quote!r}, which does not stand there"
        elif not (chunk.start <= one.start <= one.end <= chunk.end and (one.quote or chunk.text.isspace())):
            yield f"[{one.marker}] quotes {one.quote!r}, not a part of its chunk"
    if len({(one.chunk_id, one.start, one.end) for one in answer.citations}) < len(answer.citations):
        yield "a span is cited twice"


def _of_markers(answer: Answer, reading: Reading) -> Iterator[str]:
    cited = [one.marker for one in answer.citations]
    if list(dict.fromkeys(cited)) != list(range(1, len(set(cited)) + 1)):
        yield f"the citations are numbered {cited}"
    if wrong := set(reading.markers) - set(cited):
        yield f"markers {sorted(wrong)} are shown that cite nothing"
    if silent := [k for k in set(cited) if f"[{k}]" not in answer.text]:
        yield f"citations {silent} have no marker"
    first = list(dict.fromkeys(reading.markers))
    if not reading.code_has_markers and first != sorted(first):
        yield f"markers appear in the order {first}"
    documents = {one.marker: one.document_id for one in answer.citations}
    if answer.number_by == "document" and len(set(documents.values())) < len(documents):
        yield "a document has two markers"
    chunks = {(one.marker, one.chunk_id) for one in answer.citations}
    if answer.number_by == "chunk" and len(chunks) > len(documents):
        yield "a marker has two chunks"


def _of_links(reading: Reading) -> Iterator[str]:
    for token in reading.tokens:
        if token.type in ("link_open", "image", "html_block"):
            yield f"{token.type}: {token.attrs or token.content}"
        elif token.type == "html_inline" and not _NO_HTML.fullmatch(token.content):
            yield f"HTML: {token.content}"
    for address in _ADDRESS.findall(reading.prose):
        yield f"the address {address}"


async def written(
    texts: Sequence[str], evidence: Sequence[Evidence], number_by: NumberBy
) -> tuple[Answer, list[str]]:
    """Return the answer that a reply in pieces becomes, and the pieces that were shown."""
    shown: list[str] = []
    events = write("?", _streamed(texts), evidence, evidence=evidence, model="random", number_by=number_by)
    async for event in events:
        if isinstance(event, Token):
            shown.append(event.text)
        else:
            return event.answer, shown
    raise AssertionError("An answer ends with Done.")


async def _streamed(texts: Sequence[str]) -> AsyncIterator[str]:
    for text in texts:
        yield text
