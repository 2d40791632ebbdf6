"""Linear discriminant analysis: how well classes are separated."""
