"""Sweeps: configurations of a pipeline on the same questions.

- `reading`, `form`: a sweep file to a `Sweep`, with all that is wrong at once
- `factors`: settings and options of steps that vary; `candidates`: which combinations are tried
- `objectives`: what should become better, and what has to be asked for it
- `sweeping`: the sweep on its way, within a budget; `onerun`: one configuration as a stored run
- `libraries`: a library for each way to store
- `tried`, `effects`, `report`: what was found
"""
