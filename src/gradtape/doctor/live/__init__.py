"""What is shown while the program runs: lines, a status, files, a page that follows."""
