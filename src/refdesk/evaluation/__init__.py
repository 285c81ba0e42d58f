"""How well a library finds and answers, measured where answers are known, and whether a change helped.

- `datasets`: cases with gold in documents and spans, their readers
- `runs`: every case asked, measured, judged and kept
- `comparing`: differences with intervals and tests, verdicts, gates, noise
- `sweeps`: many configurations on the same questions
- `reporting`: runs for people, in one file without a network
- `safety`: what should be refused, and planted documents
- `generating`: questions made of a library's own documents
- `calibrating`: limits of scores, fitted and looked at
- `searching`: search modes, pipelines and rewritings on data sets in BEIR layout
"""
