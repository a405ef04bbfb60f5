"""How far to trust a structure: its weights, how sure and how good it is."""
