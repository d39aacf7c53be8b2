"""GT3xx: a gradient that is not finite."""
