"""Algorithms that do what they may."""
