"""GT6xx: errors of compilation and of use."""
