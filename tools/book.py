"""Makes a game's book: random openings that a strong player calls even.

python tools/book.py gomoku15 > src/tesuji/books/gomoku15.txt
"""

import sys
from typing import Annotated

import typer

import tesuji
from tesuji.openings import default_plies, openings


def main(
    game: str,
    judge: Annotated[str, typer.Option(help="A player whose word counts.")] = "net:visits=400",
    glance: Annotated[str, typer.Option(help="A fast one, who sorts out the worst.")] = "net:visits=16",
    bound: Annotated[float, typer.Option(help="How far from 0 the judge's value may lie.")] = 0.15,
    count: int = 150,
    seed: int = 1,
) -> None:
    g = tesuji.game(game)
    plies = default_plies(g)
    print(f"# {g.name}, {plies} random plies each, seed {seed}: {judge} puts the value within {bound:g} of even.")
    kept = 0
    sieve = [(tesuji.player(glance, g), 3 * bound), (tesuji.player(judge, g), bound)]
    for tried, opening in enumerate(openings(g, plies, seed), 1):
        state = g.replay(opening)
        if any(abs(who.think(state).value) > most for who, most in sieve):
            continue
        print(" ".join(opening), flush=True)
        kept += 1
        print(f"\r{kept} of {count} kept, {tried} tried", end="", file=sys.stderr)
        if kept == count:
            break
    print(file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
