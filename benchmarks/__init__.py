"""Benchmarks of narxbench: see README.md."""
