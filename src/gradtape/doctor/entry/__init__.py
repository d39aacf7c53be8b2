"""Ways in: the command, `watch`, notebooks, the environment; and the session behind all of them."""
