"""Whatever a selector can run: measure × search pairs, and methods of their own."""
