"""Algorithms that do what they must not."""
