"""GT5xx: a gradient that has a wrong value."""
