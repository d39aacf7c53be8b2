"""Around the engine: the alias `tensorflow`, names that are not here, running programs."""
