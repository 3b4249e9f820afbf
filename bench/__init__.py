"""Benchmarks, each beside the peer it is measured against, in one run: ``python -m bench``."""
