"""A model that decides what to do next: search, read on, answer, give up.

`Tool` is the contract of what it may do. The step `investigate` (`refdesk.steps.Loop`) is the declaration;
here is what it works with.
"""
