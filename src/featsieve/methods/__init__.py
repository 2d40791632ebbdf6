"""The named methods: one cell of the table measure × search each, with the papers' defaults."""
