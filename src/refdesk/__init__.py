"""A reference desk for documents: it answers with checked citations, or says that it does not know."""

__version__ = "0.1.0"
