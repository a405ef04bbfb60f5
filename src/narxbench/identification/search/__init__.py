"""What is tried on the data, and the structures that are found."""
