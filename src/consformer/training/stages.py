"""Training in stages: where a recipe starts from another one, that one is followed first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from consformer.errors import RecipeError
from consformer.training.checkpoint import network_names
from consformer.training.recipe import Recipe, load_recipe, recipe_names


@dataclass(frozen=True)
class Stage:
    """One training run of those that lead to a network."""

    recipe: Recipe
    folder: Path
    start: str | None = None
    """the network whose weights to start from: a shipped one's name, or a file, which the stage before writes"""


def stages(recipe: Recipe, folder: Path) -> list[Stage]:
    """The runs that lead to the network of a recipe, its own last; those before it have folders within its own.

    >>> [stage.recipe.name for stage in stages(load_recipe("any"), Path("runs/any"))]
    ['any']
    """
    return _stages(recipe, folder, ())


def _stages(recipe: Recipe, folder: Path, after: tuple[str, ...]) -> list[Stage]:
    start = recipe.network.start
    if start is None or start in network_names() or not (start in recipe_names() or start.endswith(".toml")):
        return [Stage(recipe, folder, start)]
    if start in after:
        raise RecipeError(f"network.start: {start} would start from itself; name another recipe, a network or a file")
    first = load_recipe(start)
    before = _stages(first, folder / first.name, (*after, start))
    return [*before, Stage(recipe, folder, str(before[-1].folder / f"{first.name}.safetensors"))]
