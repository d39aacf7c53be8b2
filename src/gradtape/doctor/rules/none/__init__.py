"""GT1xx: a gradient that is None."""
