"""The documentation: what writes its reference, what mkdocs asks for, and the tests that run it."""
