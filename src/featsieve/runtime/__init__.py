"""Progress, threads, seeds, ordering, lazy imports and warnings."""
