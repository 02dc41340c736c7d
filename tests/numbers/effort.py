"""How many examples a test tries: twenty times as many under the profile ``deep``."""

from __future__ import annotations

from hypothesis import settings

SCALE = 20 if settings.get_current_profile_name() == "deep" else 1


def examples(count: int) -> settings:
    """Settings for so many examples, more in the deep profile."""
    return settings(max_examples=count * SCALE)
