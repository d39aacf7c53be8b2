"""Native code for programs: LLVM IR with explicit vectors, through llvmlite."""
