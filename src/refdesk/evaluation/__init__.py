"""How well a library answers, measured on data sets with known answers.

- `beir`: retrieval data sets in the BEIR layout
- `metrics`: nDCG, recall and MRR, by ir-measures
- `finders`: what can be measured: search modes, pipelines, functions of your own
- `retrieval`: finders on a data set, with quality, latency and cost
- `report`: what a run found, as values that print and become JSON
- `asking`: how the best hit of a question scores
- `rowfile`, `scorefile`: results that are kept, so that what was broken off goes on
- `zones`: what limits on that score do; `plots`: the same as a picture
- `calibration`: limits that are fitted, with what they do to other questions
"""
