"""Limits of scores, fitted and looked at: zones of rerankers, levels of grounders."""
