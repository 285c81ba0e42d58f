"""Word documents, through markitdown (mammoth, with equations as LaTeX)."""

from markitdown.converters import DocxConverter

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import check_archive
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.office import convert, with_properties


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read text, headings, lists, tables and notes. Word files have no fixed pages."""
    check_archive(data)
    return with_properties(from_markdown(convert(DocxConverter, data, ".docx")), data)
