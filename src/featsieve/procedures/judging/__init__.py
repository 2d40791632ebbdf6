"""How good is a set of columns for prediction? Rows, folds and models that answer it."""
