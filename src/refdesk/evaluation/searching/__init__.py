"""How well ways to search, pipelines and rewritings find, on data sets in BEIR layout."""
