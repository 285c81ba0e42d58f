"""Markers to checked citations.

- `rewriting`: a model's reply, piece by piece, to the text that a reader sees: `[[n]]` becomes `[k]`, links
  lose what can be clicked
- `support`: the sentences of a source that support a statement
- `build`: a marker and a span to a `Citation` with exact offsets, page and link
- `sentences`: a text to sentences with exact offsets
"""
