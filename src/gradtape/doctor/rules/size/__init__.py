"""GT4xx: a gradient that vanishes or explodes."""
