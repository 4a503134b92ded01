"""Study D: Dots and Boxes by a learned Monte-Carlo table. The table itself is ``tesuji.table``."""

import functools
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tesuji
from tesuji import table
from tesuji.exact import margins, solve
from tesuji.machine import cores
from tesuji.studies.lab import (
    MATCH_HEADS,
    Figure,
    Heading,
    Lab,
    Part,
    Prose,
    Step,
    Study,
    Table,
    match_rows,
    number,
    percent,
)

__all__ = ["STUDY"]

GAME = "dots3-paper"
MODELS = ("free", "greedy")
OPPONENTS = ("random", "greedy", "mirror", "exact")
READINGS = {
    "random": "plays at random (the paper's words)",
    "take": "plays at random, but takes boxes",
    "once": "plays one edge at random, then mirrors again",
}

# First's wins and visits of each first move, as the paper prints them.
FIRST_MOVES = (
    (73463, 1161640), (32542, 516144), (42528, 673764), (68066, 1076552), (22864, 363282), (37422, 593180),
    (48461, 767369), (37369, 592344), (120082, 1896296), (32709, 518781), (33140, 525586), (286807, 4521579),
    (183677, 2897932), (127597, 2014683), (58260, 921928), (109540, 1730208), (45385, 718841), (60179, 952190),
    (52802, 835845), (77941, 1232229), (148153, 2338477), (55224, 874046), (96171, 1519547), (47840, 757572),
)  # fmt: skip
MIRROR = (377, 9_623)
PEOPLE = {
    ("free", "First"): "people win mostly",
    ("free", "Second"): "people win mostly",
    ("greedy", "First"): "people win mostly",
    ("greedy", "Second"): "people have never won",
}


def steps(lab: Lab) -> Sequence[Step]:
    games = {model: sum(length for length, _ in table.MODELS[model]) for model in MODELS}
    trained = {model: lab.count(f"games, {model} model", games[model], least=2_000) for model in MODELS}
    mirrored = lab.count("games of the mirror experiment", 10_000, least=100)
    side = lab.count("games a side and opponent", 500, least=2, paper="some tens, with people")
    learned = lab.count("games with learning on", 50, least=2, even=True, paper="not said")
    kills = lab.count("saves that are killed", 20, least=2, paper="not tried: a kill destroys the file")
    minutes = lab.minutes("our recipe: preset laptop", 6)

    def match(model: str, opponent: str) -> dict[str, Any]:
        """On this machine, as all matches of a table: it fills more than a hundred megabytes, and plays at once."""
        name = f"{model}-{opponent}"
        return lab.match(name, f"table:{_file(lab, model)}", opponent, game=GAME, games=2 * side, openings=0, workers=1)

    return [
        *(Step(f"train-{model}", functools.partial(_train, lab, model, trained[model])) for model in MODELS),
        Step("mirror", functools.partial(_mirror, lab, mirrored)),
        *(Step(f"{m}-{o}", functools.partial(match, m, o)) for m in MODELS for o in OPPONENTS),
        Step("exact", lambda: {model: lab.mistakes(f"{model}-exact") for model in MODELS}),
        Step("learning", functools.partial(_learning, lab, learned)),
        Step("kills", functools.partial(_kills, lab, kills)),
        Step("perfect", functools.partial(_perfect, lab, 2 * side)),
        Step("ours", functools.partial(_ours, lab, minutes)),
        Step("ours-matches", functools.partial(_our_matches, lab, 2 * min(side, 50))),
    ]


def _file(lab: Lab, model: str) -> str:
    return str(lab.folder / "tables" / f"{model}.table")


def _train(lab: Lab, model: str, games: int) -> dict[str, Any]:
    """With one thread, so that the same seed gives the same table."""
    began = time.process_time()
    table.train_file(_file(lab, model), tesuji.game(GAME), model, games, seed=lab.seed, say=lab.say)
    spent = time.process_time() - began
    made = table.Table.load(_file(lab, model))
    return {
        "games": made.trained,
        "phases": made.phases,
        "states": int(np.count_nonzero(made.visits)),
        "processor_seconds": round(spent, 2),
        "first_moves": [[move.wins, move.visits] for move in made.first_moves()],
    }


def _mirror(lab: Lab, games: int) -> dict[str, Any]:
    found = {}
    for first in ("random", "take"):
        for broken in READINGS:
            lab.say(f"mirror: First {first}, once broken {broken}")
            found[f"{first} {broken}"] = table.mirror_experiment(games, lab.seed, broken=broken, first=first)
    return found


def _learning(lab: Lab, games: int) -> dict[str, Any]:
    """Games against random and greedy, after each of which the table is saved."""
    path = lab.folder / "tables" / "learning.table"
    shutil.copy(_file(lab, "greedy"), path)
    lab.match_file("learning").unlink(missing_ok=True)  # a step that was left begins anew: with the table as it was
    lab.match_file("learning").with_name("learning.json.journal").unlink(missing_ok=True)
    before = table.Table.load(path)
    played = lab.match("learning", f"table:{path},learn=1", "greedy", game=GAME, games=games, openings=0, workers=1)
    after = table.Table.load(path)
    times = {"load": [], "save": []}  # type: dict[str, list[float]]
    for _ in range(3):
        began = time.perf_counter()
        read = table.Table.load(path)
        between = time.perf_counter()
        read.save(path)
        times["load"].append(round(between - began, 3))
        times["save"].append(round(time.perf_counter() - between, 3))
    return {
        "match": played,
        "learned": after.learned - before.learned,
        "new_visits": int(after.visits[0]) - int(before.visits[0]),
        "bytes": path.stat().st_size,
        "load_seconds": min(times["load"]),
        "save_seconds": min(times["save"]),
    }


_SAVER = """
import sys, time
from tesuji.table import Table
table = Table.load(sys.argv[1])
print("ready", flush=True)
while True:
    table.learned += 1
    table.save(sys.argv[1])
"""


def _kills(lab: Lab, kills: int) -> dict[str, Any]:
    """A process that saves without end is killed at odd moments: is the file sound each time?"""
    path = lab.folder / "tables" / "killed.table"
    shutil.copy(_file(lab, "greedy"), path)
    sound = 0
    for kill in range(kills):
        with subprocess.Popen([sys.executable, "-c", _SAVER, str(path)], stdout=subprocess.PIPE) as saver:
            assert saver.stdout is not None
            saver.stdout.readline()
            time.sleep(0.05 + 0.37 * (kill * 0.618 % 1))
            saver.send_signal(signal.SIGKILL)
        try:
            table.Table.load(path)
            sound += 1
        except ValueError as damage:
            lab.say(str(damage), True)
        lab.say(f"{kill + 1} of {kills} kills, {sound} files sound")
    path.unlink()
    return {"kills": kills, "sound": sound}


def _perfect(lab: Lab, games: int) -> dict[str, Any]:
    """What the game is worth, each first move, and a perfect player against the paper's best model."""
    game = tesuji.game(GAME)
    value = solve(game.start())
    values = [solve(game.start().play(edge)).margin for edge in range(game.actions)]
    model = f"table:{_file(lab, 'greedy')}"
    played = lab.match("perfect", "exact", model, game=GAME, games=games, openings=0, workers=cores())
    return {
        "result": value.result,
        "margin": value.margin,
        "first_moves": values,
        "states": len(margins(game)),
        "match": played,
    }


def _ours(lab: Lab, minutes: float) -> dict[str, Any]:
    lines = lab.recipe("ours", GAME, minutes)
    return {key: lines[-1].get(key) for key in ("minutes", "games", "positions", "steps", "loss")}


def _our_matches(lab: Lab, games: int) -> dict[str, Any]:
    net = f"{lab.strong(GAME, 'ours')}visits=100"
    against = {
        "exact": "exact",
        "table": f"table:{_file(lab, 'greedy')}",
        "greedy": "greedy",
    }
    here = {"table": cores()}
    played = {
        name: lab.match(f"ours-{name}", net, theirs, game=GAME, games=games, workers=here.get(name))
        for name, theirs in against.items()
    }
    return {"matches": played, "mistakes": lab.mistakes("ours-exact")}


# ── The report ──


def parts(lab: Lab) -> Sequence[Part]:
    n = lab.numbers
    greedy = n["train-greedy"]["first_moves"]
    return [
        Heading("paper part"),
        Prose(
            "The state is the set of drawn edges alone. Two tables are learned from whole games: free, and with the "
            "rule that a box that can be taken is taken."
        ),
        Table("trainings", ("model", "games", "first wins", "paper", "states"), _trainings(n)),
        Table(
            "first-moves",
            ("edge", "paper: wins", "paper: visits", "paper", "here: wins", "here: visits", "here", "exact margin"),
            _first_moves(greedy, n["perfect"]["first_moves"]),
        ),
        Figure("first-moves-shares", lambda axes: _draw_moves(axes, greedy, "First's share of wins", visits=False)),
        Figure("first-moves-visits", lambda axes: _draw_moves(axes, greedy, "share of the games", visits=True)),
        Table(
            "mirror",
            ("reading", "games", "First wins", "Second wins", "paper: First", "paper: Second", "First takes boxes"),
            _mirror_rows(n["mirror"]),
        ),
        Prose(
            "First plays at random; in the last column First takes boxes and is random otherwise (First : Second). "
            "docs/table.md says which other readings were tried."
        ),
        Table("results", ("model", "side", *MATCH_HEADS[1:]), _result_rows(n), words=3),
        Table(
            "exact",
            ("player", "side", "judged", "mistakes", "share"),
            _mistake_rows({f"{model} model": n["exact"][model] for model in MODELS}),
            words=2,
        ),
        Table("learning", ("item", "paper", "here"), _learning_rows(n)),
        Heading("our part"),
        Prose(
            f"The game is solved: with best play First's margin is {n['perfect']['margin']:+g} boxes, "
            f"from a table of all {n['perfect']['states']:,} states."
        ),
        Table("dots-ours", MATCH_HEADS, _our_rows(n), words=2),
        Table(
            "exact",
            ("player", "side", "judged", "mistakes", "share"),
            _mistake_rows({"our network": n["ours-matches"]["mistakes"]}),
            words=2,
        ),
    ]


def _trainings(n: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for model, paper in (("free", "–"), ("greedy", "6.3%")):
        wins, visits = map(sum, zip(*n[f"train-{model}"]["first_moves"], strict=True))
        made = n[f"train-{model}"]
        rows.append([model, f"{made['games']:,}", percent(wins / visits), paper, f"{made['states']:,}"])
    return rows


def _first_moves(ours: Sequence[Sequence[int]], exact: Sequence[float]) -> list[list[str]]:
    def cells(wins: int, visits: int) -> list[str]:
        return [f"{wins:,}", f"{visits:,}", f"{wins / max(1, visits):.2%}"]

    rows = [
        [str(edge), *cells(*paper), *cells(*here), f"{margin:+g}"]
        for edge, (paper, here, margin) in enumerate(zip(FIRST_MOVES, ours, exact, strict=True))
    ]
    totals = [[sum(move[i] for move in moves) for i in (0, 1)] for moves in (FIRST_MOVES, ours)]
    return [*rows, ["all", *cells(*totals[0]), *cells(*totals[1]), f"{max(exact):+g}"]]


def _draw_moves(axes: Any, ours: Sequence[Sequence[int]], unit: str, *, visits: bool) -> None:
    for shift, label, moves in ((-0.2, "paper", FIRST_MOVES), (0.2, "here", ours)):
        whole = sum(move[1] for move in moves)
        heights = [move[1] / whole if visits else move[0] / max(1, move[1]) for move in moves]
        axes.bar([edge + shift for edge in range(len(moves))], [100 * h for h in heights], 0.4, label=label)
    axes.set_xlabel("First's first edge")
    axes.set_ylabel(f"{unit}, %")


def _mirror_rows(found: Mapping[str, Sequence[int]]) -> list[list[str]]:
    rows = []
    for broken, words in READINGS.items():
        first, second = found[f"random {broken}"]
        paper = [f"{wins:,}" for wins in MIRROR] if broken == "random" else ["–", "–"]
        taking = " : ".join(f"{wins:,}" for wins in found[f"take {broken}"])
        rows.append([words, f"{first + second:,}", f"{first:,}", f"{second:,}", *paper, taking])
    return rows


def _result_rows(n: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for model in MODELS:
        for side, key in (("First", "as_first"), ("Second", "as_second")):
            for opponent in OPPONENTS:
                wins, draws, losses = n[f"{model}-{opponent}"][key]
                games = wins + draws + losses
                share = percent((wins + draws / 2) / games)
                cells = (f"{x:,}" for x in (games, wins, draws, losses))
                rows.append([model, side, opponent, *cells, share, PEOPLE[model, side]])
    return rows


def _mistake_rows(accounts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[list[str]]:
    """Of player A of each match."""
    rows = []
    for who, account in accounts.items():
        for side in ("First", "Second"):
            a = account[f"A {side}"]
            share = a["lost_result"] / a["moves"] if a["moves"] else None
            rows.append([who, side, f"{a['moves']:,}", f"{a['lost_result']:,}", percent(share)])
    return rows


def _learning_rows(n: Mapping[str, Any]) -> list[list[str]]:
    made, kills = n["learning"], n["kills"]
    match = made["match"]
    return [
        ["games played with learning on", "not said", f"{match['games']:,}"],
        ["games that the table learned", "not said", f"{made['learned']:,}"],
        ["won–drawn–lost against greedy", "–", f"{match['wins']}–{match['draws']}–{match['losses']}"],
        ["seconds of a save", "10–20", number(made["save_seconds"])],
        ["seconds of a load", "10–20", number(made["load_seconds"])],
        ["size of the file, MB", "not said", number(made["bytes"] / 1e6, 1)],
        ["files destroyed by a kill while saving", "all", f"{kills['kills'] - kills['sound']} of {kills['kills']}"],
    ]


def _our_rows(n: Mapping[str, Any]) -> list[list[str]]:
    ours = n["ours-matches"]["matches"]
    beaten = "people have never won against it as Second"
    return match_rows(
        [
            ("exact", "greedy-rule table", n["perfect"]["match"], beaten),
            ("our network", "greedy-rule table", ours["table"], beaten),
            ("our network", "exact", ours["exact"], "–"),
            ("our network", "greedy", ours["greedy"], "–"),
        ]
    )


STUDY = Study(name="dots", scale=0.1, steps=steps, parts=parts)
