"""Ours and a peer side by side: ``python -m benchmarks.NAME`` from the project's root."""
