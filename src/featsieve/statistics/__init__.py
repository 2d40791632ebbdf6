"""Statistics that add over blocks of rows."""
