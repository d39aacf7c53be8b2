"""Control flow as functions, and Python code as an op."""
