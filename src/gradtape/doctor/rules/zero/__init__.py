"""GT2xx: a gradient that is zero."""
