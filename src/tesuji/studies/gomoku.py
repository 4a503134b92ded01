"""Study G: Gomoku by MCTS and a convolutional network: curves of learning, latest or best, seconds a move."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tesuji
from tesuji.search import Search
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
    curve,
    losses,
    match_rows,
    number,
    percent,
)

__all__ = ["STUDY"]

GAME, SMALL = "gomoku8", "gomoku6x4"
PLAIN = "mcts:study=gomoku"  # 4,701 simulations, a new tree every move
SIMULATIONS, DEPTH = 4_701, 41  # of the search that the paper shows
LOSS, ENTROPY = 2.2, 2.0
SECONDS = {"plain": 7.0, "network": 1.0}
GOOD = {"latest": 500, "best": 1_500}  # games
ANCHOR, GOOD_SCORE = "mcts:visits=1000", 0.5
OUR_VISITS = (1, 16, 100)


def steps(lab: Lab) -> Sequence[Step]:
    visits = lab.simulations(400, paper="not said")
    rounds, changes = lab.plan("self-play games, 8×8", 3_000, a_round=20, plies=35, crowd=32)
    small_rounds, small = lab.plan("self-play games, 6×6-4, each scheme", 1_500, a_round=20, plies=18, crowd=16)
    changes |= lab.training(35)
    small |= lab.training(18)
    small |= {"run.keep": max(1, small_rounds // 8), "run.gate_games": 10, "selfplay.visits": visits}
    timed = lab.count("games against plain MCTS, timed", 300, least=2, even=True)
    measured = lab.count("games that measure a network", 100, least=2 if lab.trial else 10, even=True, paper="not said")
    minutes = lab.minutes("our recipe: preset laptop, 8×8", 40)
    small_minutes = lab.minutes("our recipe: preset laptop, 6×6-4", 20)

    def network() -> str:
        return lab.player("paper", lab.net("paper"), visits)

    def many_games() -> dict[str, Any]:
        played = lab.match("many-games", network(), PLAIN, game=GAME, games=timed, openings=0, workers=1)
        return played | {"means": _means(lab, "many-games")}

    def strength() -> dict[str, Any]:
        ours = lab.strong(GAME, "ours")
        found = {
            f"ours {v}": lab.match(f"ours-{v}", f"{ours}visits={v}", PLAIN, game=GAME, games=measured, workers=1)
            for v in OUR_VISITS
        }
        return found | {"paper": lab.match("paper-plain", network(), PLAIN, game=GAME, games=measured, workers=1)}

    def exact() -> dict[str, Any]:
        net = f"{lab.strong(SMALL, 'ours-6x4')}visits={visits}"
        played = lab.match("exact-6x4", net, "mcts:visits=10000", game=SMALL, games=measured, openings=0)
        return {"match": played, "mistakes": lab.mistakes("exact-6x4", seconds=0.1 if lab.trial else 2.0)}

    return [
        Step("one-game", functools.partial(_one_game, lab)),
        Step("one-search", functools.partial(_one_search, lab)),
        Step(
            "paper",
            lambda: {
                "lines": losses(
                    lab.learn("paper", GAME, "paper", {**changes, "selfplay.visits": visits}, rounds=rounds)
                )
            },
        ),
        Step("many-games", many_games),
        *(Step(scheme, functools.partial(_scheme, lab, scheme, small_rounds, small, measured)) for scheme in GOOD),
        Step("ours", lambda: {"lines": losses(lab.recipe("ours", GAME, minutes))}),
        Step("ours-6x4", lambda: {"lines": losses(lab.recipe("ours-6x4", SMALL, small_minutes))}),
        Step("strength", strength),
        Step("exact", exact),
    ]


def _one_game(lab: Lab) -> dict[str, Any]:
    """Plain search against itself, from the empty board."""
    played = lab.match("one-game", PLAIN, PLAIN, game=GAME, games=2, openings=0, workers=1)
    return played | {"move_seconds": lab.records("one-game")[1].seconds}


def _one_search(lab: Lab) -> dict[str, Any]:
    """The same search in every position of that game, for its depth: of the tree, and of the games played from it."""
    states = [state for state in lab.records("one-game")[1].states() if state.result is None]
    search = Search(tesuji.game(GAME), states, seed=lab.seed, visits=SIMULATIONS, rule="uct", c=1.0)
    search.run("rollout")
    depths = [search.depth(tree) for tree in range(len(states))]
    return {
        "simulations": [search.visits(tree) for tree in range(len(states))],
        "deepest": [most for most, _ in depths],
        "mean": [round(mean, 3) for _, mean in depths],
    }


def _means(lab: Lab, name: str) -> dict[str, list[float]]:
    """Mean seconds of a move, game by game, of both players."""
    means: dict[str, list[float]] = {"A": [], "B": []}
    for _, record in sorted(lab.records(name).items()):
        spent: dict[str, list[float]] = {"A": [], "B": []}
        for state, seconds in zip(record.states(), record.seconds, strict=False):
            spent[(record.first, record.second)[state.to_play]].append(seconds)
        for label, times in spent.items():
            means[label].append(round(sum(times) / max(1, len(times)), 5))
    return means


def _scheme(lab: Lab, scheme: str, rounds: int, changes: Mapping[str, object], games: int) -> dict[str, Any]:
    """A run on 6×6-4 whose games are by the latest or by the best network; the networks that it kept, measured."""
    lines = lab.learn(scheme, SMALL, "paper", {**changes, "run.gating": scheme}, rounds=rounds)
    every = changes["run.keep"]
    assert isinstance(every, int)
    kept = [line for line in lines if line["round"] % every == 0 and line["steps"]]
    points = []
    for line in kept:
        net = lab.player(scheme, lab.net(scheme, line["steps"]), 8 if lab.trial else 100)
        played = lab.match(f"{scheme}-{line['round']}", net, ANCHOR, game=SMALL, games=games)
        points.append({**played, "games": line["games"], "round": line["round"]})
    return {"lines": losses(lines), "points": points}


# ── The report ──


def parts(lab: Lab) -> Sequence[Part]:
    n = lab.numbers
    paper, ours = n["paper"]["lines"], n["ours"]["lines"]
    return [
        Heading("paper part"),
        Table("one search", ("item", "paper", "here"), _search_rows(n["one-search"], n["one-game"])),
        Prose(
            "The paper does not say what its depth counts. A tree of 4,701 visits on 64 points is a few plies deep; "
            "the random games played from its leaves go to the end."
        ),
        Table("curves", ("item", "paper", "here"), _curve_rows(paper)),
        Figure("gomoku-loss", lambda axes: _draw(axes, paper, ("loss", "policy_loss", "value_loss"), LOSS)),
        Figure("gomoku-entropy", lambda axes: _draw(axes, paper, ("policy_entropy", "target_entropy"), ENTROPY)),
        Table("times", ("item", "paper", "here"), _time_rows(n)),
        Figure("one-game", lambda axes: _draw_game(axes, n["one-game"]["move_seconds"])),
        Figure("many-games", lambda axes: _draw_games(axes, n["many-games"]["means"])),
        Prose(
            "Plain search is compiled here and plays 4,701 random games faster than the paper's Python by a factor of "
            "hundreds, so that the network is what costs time, and buys strength."
        ),
        Table("latest-or-best", ("data of", "games", "games until good", "paper", "score"), _scheme_rows(n)),
        Figure("latest-or-best-curve", lambda axes: _draw_schemes(axes, n)),
        Prose(
            f"Good means here: at least {GOOD_SCORE:.0%} against `{ANCHOR}` with 100 visits; the paper does not say."
        ),
        Heading("our part"),
        Figure("ours-curve", lambda axes: _draw(axes, ours, ("loss", "policy_entropy"), None)),
        Table(
            "strength",
            (*MATCH_HEADS[:-1], "seconds a move", "opponent: seconds", "paper"),
            _strength_rows(n["strength"]),
            words=2,
        ),
        Table(
            "exact6x4",
            ("side", "judged", "not judged", "mistakes", "share", "paper"),
            _exact_rows(n["exact"]["mistakes"]),
        ),
    ]


def _search_rows(search: Mapping[str, Any], game: Mapping[str, Any]) -> list[list[str]]:
    return [
        ["simulations", f"{SIMULATIONS:,}", f"{max(search['simulations']):,}"],
        ["deepest node of the tree, in the positions of one game", f"{DEPTH}", f"{max(search['deepest'])}"],
        ["depth of a visit on average", "–", number(sum(search["mean"]) / len(search["mean"]))],
        ["plies of that game", "–", f"{len(game['move_seconds'])}"],
    ]


def _learned(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [line for line in lines if "loss" in line]


def _curve_rows(lines: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    learned = _learned(lines)
    first, last = (learned[0], learned[-1]) if learned else ({}, {})
    low = next((line["games"] for line in learned if line["policy_entropy"] <= ENTROPY), None)
    return [
        ["self-play games", "3,000", f"{lines[-1]['games']:,}"],
        ["loss at the end", f"{LOSS:g}", number(last.get("loss"))],
        ["loss at the beginning", "–", number(first.get("loss"))],
        ["entropy of the policy at the end", f"about {ENTROPY:g}", number(last.get("policy_entropy"))],
        ["entropy of the policy at the beginning", "–", number(first.get("policy_entropy"))],
        [f"games until the entropy is {ENTROPY:g}", "about 500", "not reached" if low is None else f"{low:,}"],
    ]


def _time_rows(n: Mapping[str, Any]) -> list[list[str]]:
    one, many = n["one-game"], n["many-games"]
    network, plain = many["seconds"]
    spread = max(one["move_seconds"]) - min(one["move_seconds"])
    return [
        ["plain MCTS, one game", "7 s", number(sum(one["move_seconds"]) / len(one["move_seconds"]), 4) + " s"],
        ["plain MCTS, one game: slowest less fastest move", "1.5 s", number(spread, 4) + " s"],
        [f"plain MCTS, {many['games']} games", "7 s", number(plain, 4) + " s"],
        [f"network, {many['games']} games", "1 s", number(network, 4) + " s"],
        ["network's score in these games", "not said", percent(many["score"])],
        ["network's time, of that of plain MCTS", "1/7", number(network / max(plain, 1e-9), 1)],
    ]


def _scheme_rows(n: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for scheme, paper in GOOD.items():
        points = n[scheme]["points"]
        good = next((f"{p['games']:,}" for p in points if p["score"] >= GOOD_SCORE), "not reached")
        last = percent(points[-1]["score"]) if points else "–"
        rows.append([scheme, f"{n[scheme]['lines'][-1]['games']:,}", good, f"{paper:,}", last])
    return rows


def _strength_rows(found: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for name, m in found.items():
        visits = m["players"][0].partition("visits=")[2].partition(",")[0]
        whose = "the paper's" if name == "paper" else "our"
        who = f"{whose} network, visits: {visits}"
        (row,) = match_rows([(who, PLAIN, m, "stronger than plain MCTS, 1 s : 7 s" if name == "paper" else "–")])
        rows.append([*row[:-1], number(m["seconds"][0], 4), number(m["seconds"][1], 4), row[-1]])
    return rows


def _exact_rows(accounts: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    rows = []
    for side in ("First", "Second"):
        a = accounts[f"A {side}"]
        share = a["lost_result"] / a["moves"] if a["moves"] else None
        counts = (f"{a[key]:,}" for key in ("moves", "unknown", "lost_result"))
        rows.append([side, *counts, percent(share), "not measured"])
    return rows


def _draw(axes: Any, lines: Sequence[Mapping[str, Any]], keys: Sequence[str], paper: float | None) -> None:
    for key in keys:
        curve(axes, lines, "games", key, key.replace("_", " "))
    if paper is not None:
        axes.axhline(paper, color="black", linestyle=":", label=f"paper: {paper:g}")
    axes.set_xlabel("self-play games")
    axes.set_ylabel("nats")


def _draw_game(axes: Any, seconds: Sequence[float]) -> None:
    axes.plot(range(1, len(seconds) + 1), seconds, marker=".", label="here")
    axes.axhline(SECONDS["plain"], color="black", linestyle=":", label="paper: about 7 s")
    axes.set_yscale("log")
    axes.set_xlabel("ply")
    axes.set_ylabel("seconds")


def _draw_games(axes: Any, means: Mapping[str, Sequence[float]]) -> None:
    for label, key, paper in (("plain MCTS", "B", SECONDS["plain"]), ("network", "A", SECONDS["network"])):
        (drawn,) = axes.plot(range(1, len(means[key]) + 1), means[key], marker=".", label=label)
        axes.axhline(paper, color=drawn.get_color(), linestyle=":", label=f"paper: {label} {paper:g} s")
    axes.set_yscale("log")
    axes.set_xlabel("game")
    axes.set_ylabel("mean seconds a move")


def _draw_schemes(axes: Any, n: Mapping[str, Any]) -> None:
    for scheme, paper in GOOD.items():
        points = n[scheme]["points"]
        (drawn,) = axes.plot(
            [p["games"] for p in points], [100 * p["score"] for p in points], marker=".", label=f"{scheme}"
        )
        axes.axvline(paper, color=drawn.get_color(), linestyle=":", label=f"paper: {scheme} good at {paper:,}")
    axes.set_xlabel("self-play games")
    axes.set_ylabel(f"score against {ANCHOR}, %")


STUDY = Study(name="gomoku", scale=0.03, steps=steps, parts=parts)
