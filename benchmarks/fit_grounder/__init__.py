"""Fit the network of the grounder `local`, and pack the word relations that it reads.

    python -m benchmarks.fit_grounder pack --wordnet WORDNET/dict --out wordnet.npz
    python -m benchmarks.fit_grounder fit --nli NLI --begin BEGIN --summedits SUMMEDITS \
        --wordnet WORDNET/dict --out minilm-head.npz

`fit` reads pairs of evidence and statement (`examples`), edits statements so that they become wrong in one
place (`edits`, `making`), embeds everything (`items`), and fits the network (`network`, `training`) in the
order that `fitting` has. It needs torch, which refdesk does not: `pip install torch`.
"""
