"""Selection by support vector machines: weights, sparse weights, and a bound on their error."""
