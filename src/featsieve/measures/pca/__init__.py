"""Principal component analysis: how much of all columns some of them rebuild."""
