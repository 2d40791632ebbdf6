"""How many rows median distances are taken from."""

MEDIAN_ROWS = 2000
SAMPLE_NUMBERS = 1 << 24
FEWEST_ROWS = 100


def median_sample_size(n_samples: int, n_columns: int) -> int:
    """All rows up to 2,000, fewer where there are very many columns.

    By the shape of the table and never by the memory limit, which must not change an answer.

    >>> median_sample_size(500, 10), median_sample_size(10**6, 10), median_sample_size(10**6, 10**5)
    (500, 2000, 167)
    """
    most = min(MEDIAN_ROWS, max(SAMPLE_NUMBERS // max(n_columns, 1), FEWEST_ROWS))
    return min(n_samples, most)
