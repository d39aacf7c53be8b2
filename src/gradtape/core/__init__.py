"""The engine: how an op is declared, applied, recorded, swept backward and pushed forward."""
