"""Has a setting that changes nothing."""

from dishonest._climb import About, Strict, climb
from pydantic import Field

__all__ = ["ABOUT", "Settings", "run"]


ABOUT = About(reference="None, it is here to be caught", options={"step": [2]})


class Settings(Strict):
    """Settings."""

    step: int = Field(default=1, ge=1, description="nothing")


def run(problem, objective, rng, settings):
    return climb(objective, rng.integers)
