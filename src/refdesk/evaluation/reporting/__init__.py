"""Stored runs for people: numbers, pictures and one HTML page.

- `numbers`: means with intervals, percentiles, how they are written
- `summary`: what a run comes to, as plain values; `verdicts`: which cases went well; `abstaining`: refusals
- `markup`: HTML and SVG where every text is escaped
- `scales`, `bars`, `forest`, `curves`: pictures, drawn as SVG
- `tables`, `overview`, `sections`, `timing`, `pairs`, `cases`, `details`: the parts of the page
- `page`: the page itself, with its style and its script; `written`: the page as a file
"""
