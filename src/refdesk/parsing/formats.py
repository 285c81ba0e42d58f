"""The formats that are read, by the names that settings and messages use."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format; `parser` is `module:function`, empty where nothing reads it."""

    name: str
    what: str
    """The format in words, for messages."""
    media_type: str
    suffixes: tuple[str, ...] = ()
    parser: str = ""
    aliases: tuple[str, ...] = ()
    """Other media types in use for it."""
    text: bool = False
    """The bytes are text in some encoding, not a container."""


_OFFICE = "application/vnd.openxmlformats-officedocument"


def _format(
    name: str, what: str, types: str, suffixes: str = "", parser: str = "", *, text: bool = False
) -> Format:
    """Return a row of the table; of the media types the first is the format's own."""
    media_type, *aliases = types.split()
    reference = f"refdesk.parsing.{parser}" if parser else ""
    return Format(name, what, media_type, tuple(suffixes.split()), reference, tuple(aliases), text)


_TEXT = (
    _format(
        "markdown",
        "Markdown",
        "text/markdown text/x-markdown",
        ".md .markdown .mdown .mkd .qmd .rmd .mdx",
        "markdown:parse",
        text=True,
    ),
    _format(
        "text",
        "plain text",
        "text/plain text/x-rst text/vtt",
        ".txt .text .log .rst .adoc .asciidoc .org .tex .srt .vtt",
        "plain:parse",
        text=True,
    ),
    _format(
        "html", "HTML", "text/html application/xhtml+xml", ".html .htm .xhtml .xht", "html:parse", text=True
    ),
    _format("eml", "an e-mail", "message/rfc822", ".eml .mht .mhtml", "eml:parse", text=True),
    _format("csv", "CSV", "text/csv application/csv", ".csv", "delimited:parse", text=True),
    _format("tsv", "TSV", "text/tab-separated-values", ".tsv .tab", "delimited:parse", text=True),
    _format("notebook", "a notebook", "application/x-ipynb+json", ".ipynb", "notebook:parse", text=True),
    _format("json", "JSON", "application/json", ".json .geojson", "jsontext:parse", text=True),
    _format(
        "jsonl",
        "JSON lines",
        "application/jsonl application/x-ndjson",
        ".jsonl .ndjson",
        "jsontext:parse_lines",
        text=True,
    ),
    _format(
        "xml",
        "XML",
        "application/xml text/xml application/rss+xml application/atom+xml",
        ".xml .rss .atom",
        "xmltext:parse",
        text=True,
    ),
    _format("python", "Python", "text/x-python text/x-script.python", ".py .pyi", "python:parse", text=True),
    _format("code", "source code", "text/x-source", "", "plain:parse", text=True),
)
_CONTAINERS = (
    _format("pdf", "PDF", "application/pdf application/x-pdf", ".pdf", "pdf:parse"),
    _format("docx", "a Word document", f"{_OFFICE}.wordprocessingml.document", ".docx .docm", "docx:parse"),
    _format(
        "pptx", "a PowerPoint file", f"{_OFFICE}.presentationml.presentation", ".pptx .pptm", "pptx:parse"
    ),
    _format("xlsx", "an Excel workbook", f"{_OFFICE}.spreadsheetml.sheet", ".xlsx .xlsm", "xlsx:parse"),
    _format("xls", "an old Excel workbook", "application/vnd.ms-excel", ".xls", "xls:parse"),
    _format("msg", "an Outlook message", "application/vnd.ms-outlook", ".msg", "msg:parse"),
    _format("rtf", "RTF", "application/rtf text/rtf", ".rtf", "rtf:parse"),
    _format("epub", "an EPUB book", "application/epub+zip", ".epub", "epub:parse"),
)
_UNREAD = (
    _format("doc", "an old Word document", "application/msword", ".doc .dot"),
    _format("ppt", "an old PowerPoint file", "application/vnd.ms-powerpoint", ".ppt"),
    _format("odf", "an OpenDocument file", "application/vnd.oasis.opendocument.text", ".odt .ods .odp"),
    _format(
        "archive",
        "an archive",
        "application/zip application/gzip application/x-tar",
        ".zip .gz .tgz .tar .bz2 .xz .7z .rar .zst .jar .whl",
    ),
    _format("image", "an image", "image/*", ".png .jpg .jpeg .gif .webp .tif .tiff .bmp .ico .heic .avif"),
    _format("audio", "a sound recording", "audio/*", ".mp3 .wav .m4a .ogg .flac .aac .opus"),
    _format("video", "a video", "video/*", ".mp4 .mov .avi .mkv .webm"),
    _format(
        "program",
        "a program or data file",
        "application/octet-stream",
        ".exe .dll .so .o .a .pyc .class .bin .db .sqlite .parquet .npy .woff .woff2 .ttf .otf",
    ),
)
FORMATS = (*_TEXT, *_CONTAINERS, *_UNREAD)

CODE_TYPES = {
    ".js": "text/x-javascript",
    ".mjs": "text/x-javascript",
    ".ts": "text/x-typescript",
    ".jsx": "text/x-javascript",
    ".tsx": "text/x-typescript",
    ".c": "text/x-c",
    ".h": "text/x-c",
    ".cpp": "text/x-c++",
    ".hpp": "text/x-c++",
    ".cc": "text/x-c++",
    ".cs": "text/x-csharp",
    ".java": "text/x-java",
    ".kt": "text/x-kotlin",
    ".go": "text/x-go",
    ".rs": "text/x-rust",
    ".rb": "text/x-ruby",
    ".php": "text/x-php",
    ".pl": "text/x-perl",
    ".swift": "text/x-swift",
    ".scala": "text/x-scala",
    ".ex": "text/x-elixir",
    ".exs": "text/x-elixir",
    ".erl": "text/x-erlang",
    ".hs": "text/x-haskell",
    ".lua": "text/x-lua",
    ".r": "text/x-r",
    ".jl": "text/x-julia",
    ".sql": "text/x-sql",
    ".sh": "text/x-shellscript",
    ".bash": "text/x-shellscript",
    ".ps1": "text/x-powershell",
    ".css": "text/x-css",
    ".scss": "text/x-scss",
    ".yaml": "text/x-yaml",
    ".yml": "text/x-yaml",
    ".toml": "text/x-toml",
    ".ini": "text/x-ini",
    ".cfg": "text/x-ini",
    ".conf": "text/x-ini",
    ".proto": "text/x-protobuf",
    ".graphql": "text/x-graphql",
    ".vue": "text/x-vue",
    ".tf": "text/x-terraform",
    ".diff": "text/x-diff",
    ".patch": "text/x-diff",
}
"""Suffix -> media type of source code that is kept as it stands."""

BY_NAME = {found.name: found for found in FORMATS}
BY_SUFFIX = {suffix: found for found in FORMATS for suffix in found.suffixes}
BY_SUFFIX |= dict.fromkeys(CODE_TYPES, BY_NAME["code"])
BY_MEDIA_TYPE = {kind: found for found in FORMATS for kind in (found.media_type, *found.aliases)}
BY_MEDIA_TYPE |= dict.fromkeys(CODE_TYPES.values(), BY_NAME["code"])
PARSERS = {found.name: found.parser for found in FORMATS if found.parser}
