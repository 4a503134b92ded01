"""How strong a run's networks were after so many minutes: ratings of the nets that `run.keep` kept.

    python benchmarks/ratings.py RUN [RUN …] [--visits 64] [--games 20] [--anchor mcts:visits=1000] [--picture FILE]

Several runs are parts of one training, each begun with the last net of the one before: their minutes add up. Every net
plays the two before it, and the first ones play the anchor, whose rating is 0. Prints a line a net; draws a picture if
asked to (needs matplotlib).
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import tesuji
from tesuji.ratings import Rating, bradley_terry
from tesuji.run import Folder


@dataclass(frozen=True)
class Kept:
    path: Path
    minutes: float


def kept(runs: list[Path]) -> tuple[str, list[Kept]]:
    """The game, and the nets of the runs in the order in which they were made."""
    found: list[Kept] = []
    before, game = 0.0, ""
    for run in runs:
        folder = Folder(run)
        folder.check()
        lines = folder.metrics()
        game = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["game"]
        for path in sorted((run / "nets").glob("*.safetensors")):
            steps = int(path.stem)
            minutes = [line["minutes"] for line in lines if line["steps"] <= steps]
            if steps > 0 and minutes:
                found.append(Kept(path, before + max(minutes)))
        before += lines[-1]["minutes"] if lines else 0.0
    return game, found


def rated(game: str, nets: list[Kept], visits: int, games: int, anchor: str) -> list[Rating]:
    """Ratings of the nets; the anchor has 0."""
    players = [anchor, *(f"net:{net.path},visits={visits},solve=0" for net in nets)]
    points = [[0.0] * len(players) for _ in players]
    for i in range(1, len(players)):
        for j in {0 if i <= 3 else i - 2, max(0, i - 2), i - 1}:
            met = tesuji.match(players[i], players[j], game=game, games=games)
            points[i][j] += met.wins + met.draws / 2
            points[j][i] += met.losses + met.draws / 2
            print(f"{players[i]} – {players[j]}: {met.wins}–{met.draws}–{met.losses}", flush=True)
    found = bradley_terry(points)
    return [Rating(r.elo - found[0].elo, r.error) for r in found[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--visits", type=int, default=64)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--anchor", default="mcts:visits=1000")
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    game, nets = kept(given.runs)
    if not nets:
        parser.error("these runs kept no nets: train with --set run.keep=20")
    ratings = rated(game, nets, given.visits, given.games, given.anchor)
    print(f"\n{game}, {given.visits} visits; {given.anchor} has 0")
    for net, rating in zip(nets, ratings, strict=True):
        print(f"{net.minutes:6.1f} minutes  {rating.elo:+6.0f} ± {rating.error:.0f}")
    if given.picture:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        axes.errorbar(
            [net.minutes for net in nets], [r.elo for r in ratings], [r.error for r in ratings], marker="o", capsize=3
        )
        axes.set_xlabel("minutes of training")
        axes.set_ylabel(f"Elo at {given.visits} visits; {given.anchor} has 0")
        axes.set_title(game)
        axes.grid(alpha=0.3)
        figure.savefig(given.picture, dpi=120)


if __name__ == "__main__":
    main()
