"""How well a library answers, measured on data sets with known answers.

- `beir`: retrieval data sets in the BEIR layout
- `metrics`: nDCG, recall and MRR, by ir-measures
- `retrieval`: every search mode on a data set, with quality and latency
- `report`: what a run found, as values that print and become JSON
"""
