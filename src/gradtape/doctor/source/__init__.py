"""The user's source: exact places, names, expressions, and lines written otherwise."""
