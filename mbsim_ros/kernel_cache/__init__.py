"""Compiled kernels, kept between runs: never stale, and never in the way."""
