"""What rules can ask about one answer: paths, cuts, cotangents, what would have been."""
