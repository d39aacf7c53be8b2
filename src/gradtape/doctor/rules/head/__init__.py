"""GT7xx: the model trains, and cannot learn what it is given."""
