from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from consformer import families
from consformer.errors import RecipeError, UnknownNameError
from consformer.networks import Network
from consformer.search.schedule import parse_schedule
from consformer.training.recipe import Recipe, load_recipe, parse_recipe, recipe_names

SMALLEST = '[[task]]\nfamily = "sudoku"\n'


def test_recipes_ship() -> None:
    assert {"any", "tiny", "paper-sudoku", "paper-coloring-5", "paper-coloring-10", "paper-nurse", "paper-maxcut"} <= set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description
    with torch.device("meta"):
        network = Network.build(recipe.network.architecture, dict(recipe.network.config))
    assert sum(parameter.numel() for parameter in network.parameters()) > 1000
    for asked in (*recipe.task, *recipe.validation):
        families.get(asked.family).settings(asked.params)  # type: ignore[attr-defined]
    assert recipe.validation
    parse_schedule(recipe.search.p, high=1.0)
    parse_schedule(recipe.search.temperature)
    json.dumps(recipe.to_dict())


def test_the_papers_settings() -> None:
    sudoku, nurse, maxcut = (load_recipe(f"paper-{name}") for name in ("sudoku", "nurse", "maxcut"))
    assert sudoku.network.config["layers"] == 7
    assert sudoku.state.p == (0.5, 0.5)
    assert nurse.network.config["width"] == 126
    assert (maxcut.network.config["layers"], maxcut.state.p) == (4, (1.0, 1.0))
    for recipe in (sudoku, nurse, maxcut):
        assert (recipe.loss.kind, recipe.loss.relaxation, recipe.loss.tau, recipe.loss.power) == ("penalty", "gumbel", 0.1, 2)
        assert (recipe.optimiser.lr, recipe.task[0].batch, recipe.task[0].instances) == (1e-4, 512, 9000)
        assert recipe.optimiser.steps == 5000 * (9000 // 512)


def test_defaults() -> None:
    recipe = parse_recipe(SMALLEST, "mine", "mine.toml")
    assert recipe.name == "mine"
    assert recipe.task[0].family == "sudoku"
    assert recipe.loss.kind == "block"
    assert recipe.network.architecture == "equivariant"


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('seed = 4\n[optimiser]\nlr = 1\n[loss]\nkind = "penalty"\nweights = { not_equal = 2 }\n' + SMALLEST)
    recipe = load_recipe(str(path))
    assert (recipe.name, recipe.seed, recipe.optimiser.lr) == ("mine", 4, 1.0)
    assert isinstance(recipe.optimiser.lr, float)
    assert recipe.loss.weights == {"not_equal": 2.0}


def test_every_setting_survives_json() -> None:
    """What a network file keeps of its recipe can be read back as a recipe."""
    recipe = load_recipe("any")
    document = json.loads(json.dumps(recipe.to_dict()))
    for section in ("task", "validation"):
        document[section] = [{key: value for key, value in row.items() if value is not None} for row in document[section]]
    document = {key: value for key, value in document.items() if value is not None}
    for section in document.keys() & {"search", "soft_search", "tight_search", "network", "state"}:
        document[section] = {key: value for key, value in document[section].items() if value is not None}
    assert parse_recipe(_toml(document), "any", "again") == recipe


def _toml(document: dict[str, object]) -> str:
    """Just enough TOML: every value is inline."""

    def inline(value: object) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(inline(item) for item in value) + "]"
        return json.dumps(value)

    return "\n".join(f"{key} = {inline(value)}" for key, value in document.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"mine.toml: a recipe needs at least one \[\[task\]\]"),
        ("seed = ", "mine.toml: not valid TOML"),
        ("sead = 1\n" + SMALLEST, "mine.toml: unknown setting 'sead': did you mean 'seed'"),
        ("seed = -1\n" + SMALLEST, "mine.toml: seed must be"),
        ('seed = "one"\n' + SMALLEST, "mine.toml: seed: must be a whole number, not 'one'"),
        ("seed = true\n" + SMALLEST, "mine.toml: seed: must be a whole number, not True"),
        ("seed = 1.5\n" + SMALLEST, "mine.toml: seed: must be a whole number, not 1.5"),
        ("validate_every = 0\n" + SMALLEST, "mine.toml: validate_every must be at least 1"),
        ("checkpoint_every = 0\n" + SMALLEST, "mine.toml: checkpoint_every must be at least 1"),
        ("network = 3\n" + SMALLEST, "mine.toml: network: must be a table, not 3"),
        ("[network]\nconfig = [1]\n" + SMALLEST, "mine.toml: network: config: must be a table"),
        ('[loss]\nkind = "blok"\n' + SMALLEST, "mine.toml: loss: kind: must be one of 'block', 'expected', 'penalty', not 'blok'"),
        ("[loss]\npower = 3\n" + SMALLEST, "mine.toml: loss: power: must be one of 1, 2"),
        ("[loss]\ntau = 0\n" + SMALLEST, "mine.toml: loss: tau must be above 0"),
        ('[loss]\nweights = { not_equal = "much" }\n' + SMALLEST, "mine.toml: loss: weights: not_equal: must be a number, not 'much'"),
        (
            "[loss]\nweights = { not_equl = 2 }\n" + SMALLEST,
            "mine.toml: loss: unknown constraint kind 'not_equl': did you mean 'not_equal'",
        ),
        ("[state]\np = [0.5]\n" + SMALLEST, r"mine.toml: state: p: must be a list of 2, not \[0.5\]"),
        ('[state]\np = [0.5, "x"]\n' + SMALLEST, r"mine.toml: state: p\[1\]: must be a number"),
        ("[state]\np = [0.5, 1.5]\n" + SMALLEST, "mine.toml: state: p must be a range within 0 and 1"),
        (SMALLEST + "p = [0, 1]\n", "mine.toml: task.*: p must be a range within 0 and 1"),
        ("[state]\np = [0.9, 0.5]\n" + SMALLEST, "mine.toml: state: p must be a range"),
        ("[state]\ntemperature = [0.0, 1.0]\n" + SMALLEST, "mine.toml: state: temperature must be"),
        ("[optimiser]\nsteps = 0\n" + SMALLEST, "mine.toml: optimiser: steps must be at least 1"),
        ("[optimiser]\nlr = nan\n" + SMALLEST, "mine.toml: optimiser: lr must be"),
        ("[optimiser]\nema = 1.0\n" + SMALLEST, "mine.toml: optimiser: ema must be"),
        ("[optimiser]\ndecay = 2\n" + SMALLEST, "mine.toml: optimiser: decay is a share"),
        ('[search]\ntemperature = "hot"\n' + SMALLEST, "mine.toml: search: temperature 'hot' is not understood"),
        ('[search]\np = "2"\n' + SMALLEST, "mine.toml: search: p '2' is out of range"),
        ('[search]\ndecode = "best"\n' + SMALLEST, "mine.toml: search: decode must be sample or greedy"),
        ("[search]\npool = 0\n" + SMALLEST, "mine.toml: search: pool must be at least 1"),
        ('[search]\nselect = "best"\n' + SMALLEST, "mine.toml: search: select must be uniform or conflicts or .*, not 'best'"),
        ('[search]\nrestarts = "best"\n' + SMALLEST, "mine.toml: search: restarts must be scratch or elite or cross or mixed, not 'best'"),
        ('[search]\npatience = "long"\n' + SMALLEST, "mine.toml: search: patience must be fixed or luby or adaptive, not 'long'"),
        ('[state]\nselect = "unsure"\n' + SMALLEST, "mine.toml: state: select cannot be 'unsure': it lives on what happened before"),
        ('[state]\nselect = "bandit"\n' + SMALLEST, "mine.toml: state: select cannot be 'bandit'"),
        ('[state]\nselect = "best"\n' + SMALLEST, "mine.toml: state: select must be uniform or .*, not 'best'"),
        ("[search]\nrestart = 0\n" + SMALLEST, "mine.toml: search: restart must be at least 1"),
        ("[task]\nfamily = 'sudoku'\n", "mine.toml: task: must be a list, not"),
        ("[[task]]\nbatch = 3\n", r"mine.toml: task\[0\]: .*family"),
        ("[[task]]\nfamily = 'sudoku'\nbatch = 0\n", r"mine.toml: task\[0\]: batch must be at least 1"),
        ("[[task]]\nfamily = 'sudoku'\ninstances = 0\n", r"mine.toml: task\[0\]: instances must be at least 1"),
        (SMALLEST + "[[validation]]\nfamily = 'sudoku'\ncount = 0\n", r"mine.toml: validation\[0\]: count must be at least 1"),
        ("[[task]]\nfamily = 'sudku'\n", r"mine.toml: task\[0\]: unknown family 'sudku': did you mean 'sudoku'"),
        (
            SMALLEST + "params = { given = 3 }\n",
            r"mine.toml: task\[0\]: unknown sudoku parameter 'given': did you mean 'givens'",
        ),
        (
            SMALLEST + "[[validation]]\nfamily = 'sudoku'\nparams = { box = 7 }\n",
            r"mine.toml: validation\[0\]: sudoku parameter 'box' must be 2, 3, 4 or 5, not 7",
        ),
        (
            "[network]\narchitecture = 'tokn'\n" + SMALLEST,
            "mine.toml: network: unknown network architecture 'tokn': did you mean 'token'",
        ),
        (
            "[network]\nconfig = { widht = 8 }\n" + SMALLEST,
            "mine.toml: network: unknown setting of the equivariant network 'widht': did you mean 'width'",
        ),
        (
            "[network]\nconfig = { width = '8' }\n" + SMALLEST,
            "mine.toml: network: these settings make no equivariant network: width must be a whole number",
        ),
        ('name = "../mine"\n' + SMALLEST, "mine.toml: name must be a plain file name"),
        ('name = "state"\n' + SMALLEST, "mine.toml: name must be a plain file name other than 'state'"),
    ],
)
def test_errors_name_file_and_setting(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=f"^{message}"):
        parse_recipe(text, "mine", "mine.toml")


def test_unknown_recipe() -> None:
    with pytest.raises(UnknownNameError, match="unknown recipe 'tinny': did you mean 'tiny'"):
        load_recipe("tinny")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path / "folder.toml", tmp_path / "binary.toml"):
        if path.stem == "folder":
            path.mkdir()
        if path.stem == "binary":
            path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(RecipeError, match=re.escape(f"{path}: cannot be read")):
            load_recipe(str(path))


def test_other_steps_keep_the_proportions() -> None:
    recipe = load_recipe("tiny")
    shorter = recipe.with_steps(100)
    assert shorter.optimiser.steps == 100
    assert shorter.optimiser.warmup / 100 == recipe.optimiser.warmup / recipe.optimiser.steps
    assert shorter.optimiser.decay == recipe.optimiser.decay
    assert replace(shorter, optimiser=recipe.optimiser) == recipe


def test_changes_are_checked_as_well() -> None:
    recipe: Recipe = load_recipe("tiny")
    with pytest.raises(RecipeError, match="seed must be"):
        replace(recipe, seed=-3)
    with pytest.raises(RecipeError, match="steps must be"):
        recipe.with_steps(0)
