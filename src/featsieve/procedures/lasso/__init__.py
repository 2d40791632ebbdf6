"""The lasso and least angle regression: moments, paths, folds."""
