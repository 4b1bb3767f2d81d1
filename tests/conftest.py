"""Settings for all tests: hypothesis draws the same cases every time, and not too many of them."""

from hypothesis import settings

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("quick")
