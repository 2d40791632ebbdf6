"""The papers' experiments, one module each: ``featsieve bench NAME`` runs NAME's ``run``."""
