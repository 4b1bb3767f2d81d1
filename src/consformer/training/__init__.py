"""Training: losses, recipes, the loop, network files."""
