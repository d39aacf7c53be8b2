"""Programs as machine code: which equations go together, how they lie in memory, and their LLVM."""
