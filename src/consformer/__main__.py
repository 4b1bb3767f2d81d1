"""`python -m consformer`."""

from consformer.cli import main

main()
