"""Search: which variables to update, how values are drawn, and the loop around the network."""
