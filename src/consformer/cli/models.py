"""`consformer models`: the networks that ship, with what they cost and reach."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.app import app, out

if TYPE_CHECKING:
    from consformer.training.checkpoint import Card


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="Show everything about this network (a name or a .safetensors file).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the shipped networks: what they were trained on, what that cost, and what was measured.

    With a name, everything about that network: settings, recipe, results.

    [bold]Examples[/]
      consformer models
      consformer models any --json
      consformer models runs/tiny/tiny.safetensors
    """
    from dataclasses import asdict

    from consformer.errors import CheckpointError
    from consformer.training.checkpoint import network_names, read_card

    cards = [read_card(chosen) for chosen in ([name] if name is not None else network_names())]
    if as_json:
        documents = [asdict(card) for card in cards]
        print(json.dumps(documents[0] if name is not None else documents))
        return
    for card in cards:
        try:
            lines = list(_lines(card, in_full=name is not None))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise CheckpointError(f"{name or card.name}: its description is damaged; get or train it again") from None
        out.print(f"{card.name}  {card.architecture}, {card.parameters:,} parameters", style="bold", markup=False, soft_wrap=True)
        for line in lines:
            out.print(f"  {line}", markup=False, soft_wrap=True)
        if name is not None:
            out.print_json(json.dumps({"config": card.config, "recipe": card.recipe, "results": card.results}))


def _lines(card: Card, in_full: bool) -> Iterator[str]:
    """The figures of a network as text."""
    from consformer.training.checkpoint import told

    training = card.training
    if card.recipe.get("description"):
        yield str(card.recipe["description"])
    if card.families:
        yield f"trained on    {', '.join(card.families)} (constraints: {', '.join(card.constraints)})"
    if training:
        cost = f"{training['steps']:,} steps, {training['samples']:,} samples, {training['core_minutes']:g} core-minutes"
        yield f"training      {cost} on {training['machine']}, {training['date']}"
    for problems, share in card.results.get("validation", {}).items():
        yield f"validation    {told(problems, share)}"
    for row in card.results.get("measured", []):
        yield f"measured      {row['set']}: {row['result']} in {row['limit']}" + (f"; CP-SAT {row['cpsat']}" if row.get("cpsat") else "")
        if in_full:
            yield f"              by {row['command']}, {row['date']}, commit {row['commit']}"
    for problems, settings in (("", card.search), (" on tight problems", card.tight_search), (" on soft constraints", card.soft_search)):
        if settings:
            told_settings = ", ".join(f"{name} {settings[name]}" for name in ("p", "temperature") if name in settings)
            yield f"solves with   {told_settings}{problems}"
