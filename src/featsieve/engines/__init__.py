"""Where the rows are: memory, files larger than memory, or a Dask cluster."""
