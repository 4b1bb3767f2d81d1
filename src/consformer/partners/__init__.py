"""Symbolic partners of the network: each finds or proves something by itself and can be switched off."""
