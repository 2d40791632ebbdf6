"""Model-X knockoffs: copies of the columns that know nothing of the target, and their filter."""
