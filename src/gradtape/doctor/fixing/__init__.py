"""What confirmed findings would change in the user's files: planned, shown as a patch, written."""
