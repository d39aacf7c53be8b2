"""How ops compute fast: workers, products, work put off, windows; nothing here knows a gradient."""
