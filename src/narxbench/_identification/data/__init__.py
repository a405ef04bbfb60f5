"""Measured data: reading them, checking them, and arranging them as a search needs them."""
