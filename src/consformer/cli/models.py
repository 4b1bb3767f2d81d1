"""`consformer models`: the networks that ship, with what they cost and reach."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from consformer.cli.app import app, out


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="Show everything about this network (a name or a .safetensors file).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the shipped networks: what they were trained on, what that cost, and what was measured."""
    from dataclasses import asdict

    from consformer.training.checkpoint import network_names, read_card

    cards = [read_card(name)] if name is not None else [read_card(known) for known in network_names()]
    if as_json:
        documents = [asdict(card) for card in cards]
        print(json.dumps(documents[0] if name is not None else documents))
        return
    for card in cards:
        training = card.training
        out.print(f"[bold]{card.name}[/]  {card.architecture}, {card.parameters:,} parameters")
        out.print(f"  {card.recipe.get('description', '')}", markup=False, soft_wrap=True)
        out.print(f"  trained on    {', '.join(card.families)} (constraints: {', '.join(card.constraints)})", markup=False, soft_wrap=True)
        out.print(
            f"  training      {training.get('steps', 0):,} steps, {training.get('samples', 0):,} samples, "
            f"{training.get('core_minutes', 0):g} core-minutes on {training.get('machine')}, {training.get('date')}",
            markup=False,
            soft_wrap=True,
        )
        for row in card.results.get("measured", []):
            out.print(
                f"  measured      {row['set']}: {row['solved']} of {row['count']} ({row['share']}) in {row['iterations']} iterations",
                markup=False,
            )
            if name is not None:
                out.print(f"                by {row['command']}, {row['date']}, commit {row['commit']}", markup=False, soft_wrap=True)
        out.print(f"  solves with   p {card.search.get('p')}, temperature {card.search.get('temperature')}", markup=False, soft_wrap=True)
        if name is not None:
            out.print_json(json.dumps({"config": card.config, "recipe": card.recipe, "results": card.results}))
