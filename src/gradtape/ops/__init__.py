"""The ops, one family per file, each declared once: forward, rules, shape, samples."""
