"""The search: configurations, the structures that searches propose in them, and the choice of one."""
