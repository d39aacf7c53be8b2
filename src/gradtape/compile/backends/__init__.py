"""Backends: each makes of a program something that can be called."""
