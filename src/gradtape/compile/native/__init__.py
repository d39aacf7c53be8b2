"""Programs as machine code: LLVM IR with explicit vectors, through llvmlite."""
