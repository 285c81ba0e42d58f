"""How well a library answers, measured on data sets with known answers.

- `beir`: retrieval data sets in the BEIR layout
- `metrics`: nDCG, recall and MRR, by ir-measures
- `retrieval`: every search mode on a data set, with quality and latency
- `report`: what a run found, as values that print and become JSON
- `asking`, `scorefile`: how the best hit of a question scores, and scores that are kept
- `zones`: what limits on that score do; `plots`: the same as a picture
- `calibration`: limits that are fitted, with what they do to other questions
"""
