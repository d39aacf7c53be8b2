"""Engine adapters: each fills the neutral trace from one framework's run."""
