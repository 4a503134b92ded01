"""Study U: Ultimate Tic-Tac-Toe by AlphaZero: iterations of self-play, training and ten games of evaluation."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

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
    losses,
    match_rows,
    number,
    percent,
)

__all__ = ["STUDY"]

GAME = "ultimate"
EVALUATION = 10  # games
MOST, SHARE = 81, 0.8  # dynamic simulation
EPOCHS, LOWER_AT = 100, (0.5, 0.8)  # the rate halves after so many of them
PLIES = 50
BLOCKS = 16
WIDE = 128  # channels at full scale: the paper says how deep its network is, not how wide
NARROW = 16
OPPONENTS = {"random": "random", "alphabeta": "alphabeta:depth=4", "mcts": "mcts:study=ultimate"}
PAPER = {"random": "mostly above 50%", "alphabeta": "below 50%", "mcts": "below 50%"}
OUR_SECONDS = 0.1


def steps(lab: Lab) -> Sequence[Step]:
    iterations = lab.count("iterations", 10, least=2 if lab.trial else 4, paper="not said: a figure")
    games = lab.count("self-play games an iteration", 1_000, least=4)
    epochs = 4 if lab.trial else EPOCHS
    channels = WIDE if lab.scale >= 0.1 else NARROW // 4 if lab.trial else NARROW
    blocks = 2 if lab.trial else BLOCKS
    lab.setting("epochs of training an iteration", f"{EPOCHS}", f"{epochs}")
    lab.setting("residual blocks, channels", f"{BLOCKS}, not said", f"{blocks}, {channels}")
    lab.setting("simulations a move", f"27 to {MOST}", f"{_most(lab) // 3} to {_most(lab)}")
    lab.setting("games of an evaluation", f"{EVALUATION}", f"{_evaluation(lab)}")
    final = lab.count("games of the last best network and of ours", 100, least=2 if lab.trial else 20, even=True)
    minutes = lab.minutes("our recipe: preset laptop", 240)
    positions = games * PLIES
    window = positions + 2 * MOST  # those of an iteration; whole games are forgotten, and a few may be left over
    changes: dict[str, object] = {
        "net.blocks": blocks,
        "net.channels": channels,
        "run.positions": positions,
        "run.gate_games": _evaluation(lab),
        "run.gate_threshold": 0.5001,  # above 50%
        "run.visits": _most(lab),
        "replay.window_min": window,
        "replay.window_max": window,
        "replay.ratio": float(epochs),
        "selfplay.games": max(2, min(32, games // 4)),
        "train.warmup": 0,
        "train.decay": "step",
        "train.decay_factor": 0.5,
        "selfplay.visits": _most(lab),
        "selfplay.checkpoint": _most(lab) // 3,
    }
    return [
        *(
            Step(f"iteration-{i}", functools.partial(_iteration, lab, i, changes, positions * epochs))
            for i in range(1, iterations + 1)
        ),
        *(Step(f"best-{name}", functools.partial(_best, lab, name, final)) for name in OPPONENTS),
        Step("dynamic", functools.partial(_dynamic, lab)),
        Step("ours", lambda: {"lines": losses(lab.recipe("ours", GAME, minutes))}),
        *(Step(f"ours-{name}", functools.partial(_ours, lab, name, final)) for name in OPPONENTS),
    ]


def _iteration(lab: Lab, number_: int, changes: Mapping[str, object], samples: int) -> dict[str, Any]:
    """Self-play, training with a rate that falls within the iteration, the gate; then ten games a opponent."""
    before = lab.numbers.get(f"iteration-{number_ - 1}", {"round": 0, "steps": 0})
    batch = 64 if lab.trial else 128
    lower = [before["steps"] + round(part * samples / batch) for part in LOWER_AT]
    rounds, lines = before["round"], list[dict[str, Any]]()
    # The first round only fills the window: nothing is learned from the few games that end in it.
    while not lines or lines[-1]["steps"] == before["steps"]:
        rounds += 1
        lines = lab.learn("paper", GAME, "paper", {**changes, "train.decay_at": lower}, rounds=rounds)
    last = lines[-1]
    games = _evaluation(lab)
    matches = {
        "untrained": lab.match(
            f"untrained-{number_}", _player(lab, lab.net("paper")), _player(lab, lab.untrained("paper")),
            game=GAME, games=games,
        )
    }  # fmt: skip
    for name, opponent in OPPONENTS.items():
        ours = _player(lab, lab.best_net("paper"))
        matches[name] = lab.match(f"{name}-{number_}", ours, opponent, game=GAME, games=games)
    gates = [line["gate"] for line in lines if line["round"] > before["round"] and "gate" in line]
    return {
        **{key: last[key] for key in ("round", "games", "positions", "steps")},
        "loss": last.get("loss"),
        "gate": gates[-1] if gates else None,
        "became_best": last["net_age"] == 0,
        "matches": matches,
    }


def _most(lab: Lab) -> int:
    """Simulations; the checkpoints lie at a third and at two thirds of them."""
    return 9 if lab.trial else MOST


def _evaluation(lab: Lab) -> int:
    """Games."""
    return 2 if lab.trial else EVALUATION


def _player(lab: Lab, net: str) -> str:
    """With dynamic simulation."""
    return lab.player("paper", net, _most(lab), checkpoint=_most(lab) // 3, share=SHARE, reuse=0)


def _best(lab: Lab, name: str, games: int) -> dict[str, Any]:
    ours = _player(lab, lab.best_net("paper"))
    return lab.match(f"best-{name}", ours, OPPONENTS[name], game=GAME, games=games)


def _ours(lab: Lab, name: str, games: int) -> dict[str, Any]:
    """At equal time a move, and with the paper's visits; random needs neither. Both tell seconds a move."""
    limit = f"seconds={0.002 if lab.trial else OUR_SECONDS:g}"
    theirs = {"random": "random", "alphabeta": f"alphabeta:{limit}", "mcts": f"mcts:{limit}"}[name]
    ours = f"{lab.strong(GAME, 'ours')}{limit}"
    return {
        "equal_time": lab.match(f"ours-{name}", ours, theirs, game=GAME, games=games, workers=1),
        "paper": lab.match(
            f"ours-{name}-paper",
            f"{lab.strong(GAME, 'ours')}visits={_most(lab)}",
            OPPONENTS[name],
            game=GAME,
            games=games,
            workers=1,
        ),
    }


def _dynamic(lab: Lab) -> dict[str, Any]:
    """Visits of all searches of the best network's and of plain search's matches."""
    found: dict[str, list[int]] = {"network": [], "plain MCTS": []}
    for name in OPPONENTS:
        for record in lab.records(f"best-{name}").values():
            for state, visits in zip(record.states(), record.visits, strict=False):
                label = (record.first, record.second)[state.to_play]
                if label == "A":
                    found["network"].append(visits)
                elif name == "mcts":
                    found["plain MCTS"].append(visits)
    limits = {"network": _most(lab), "plain MCTS": MOST}
    return {
        who: {
            "moves": len(visits),
            "most": limits[who],
            "simulations": round(sum(visits) / len(visits), 2),
            "stopped": sum(v < limits[who] - 1 for v in visits),  # the root's own visit is no move's
        }
        for who, visits in found.items()
    }


# ── The report ──


def parts(lab: Lab) -> Sequence[Part]:
    n = lab.numbers
    iterations = [n[f"iteration-{i}"] for i in range(1, 1 + sum(key.startswith("iteration-") for key in n))]
    return [
        Heading("paper part"),
        Table(
            "iterations",
            (
                "iteration", "self-play games", "steps of training", "loss", "against untrained", "against the best",
                "becomes best", "paper",
            ),
            _iteration_rows(iterations),
        ),
        Figure("untrained", lambda axes: _draw(axes, iterations, "untrained")),
        Prose(
            "The paper's figure 8 shows scores between 0 and 1 without a table; a new network becomes best when it "
            "scores above 50% in its ten games. Ten games leave ±30%."
        ),
        *(Figure(f"best-{name}", functools.partial(_draw, iterations=iterations, name=name)) for name in OPPONENTS),
        Table(
            "best",
            MATCH_HEADS,
            match_rows([("best network", OPPONENTS[name], n[f"best-{name}"], PAPER[name]) for name in OPPONENTS]),
            words=2,
        ),
        Table(
            "dynamic",
            ("search", "moves", "most simulations", "simulations a move", "saved", "stopped early", "paper"),
            _dynamic_rows(n["dynamic"]),
        ),
        Prose("A search also ends when its result is proven; such searches are among those that stopped early."),
        Heading("our part"),
        Table(
            "ours-matches",
            (*MATCH_HEADS[:-1], "seconds a move", "opponent: seconds", "paper"),
            [row for name in OPPONENTS for row in _our_rows(name, n[f"ours-{name}"])],
            words=2,
        ),
    ]  # fmt: skip


def _iteration_rows(iterations: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            str(place), f"{it['games']:,}", f"{it['steps']:,}", number(it["loss"]),
            percent(it["matches"]["untrained"]["score"]), percent(it["gate"]),
            "yes" if it["became_best"] else "no", "above 50% becomes best",
        ]
        for place, it in enumerate(iterations, 1)
    ]  # fmt: skip


def _dynamic_rows(found: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            who, f"{d['moves']:,}", f"{d['most']}", number(d["simulations"], 1),
            percent(1 - d["simulations"] / d["most"]), percent(d["stopped"] / max(1, d["moves"])),
            "27 to 81 simulations; the saving is not said",
        ]
        for who, d in found.items()
    ]  # fmt: skip


def _our_rows(name: str, found: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    rows = []
    for key, words in (("paper", "our network, visits as in the paper"), ("equal_time", "our network, equal time")):
        m = found[key]
        (row,) = match_rows([(words, m["players"][1], m, f"the paper's network: {PAPER[name]}")])
        rows.append([*row[:-1], number(m["seconds"][0], 4), number(m["seconds"][1], 4), row[-1]])
    return rows


def _draw(axes: Any, iterations: Sequence[Mapping[str, Any]], name: str) -> None:
    places = range(1, len(iterations) + 1)
    axes.plot(places, [100 * it["matches"][name]["score"] for it in iterations], marker="o", label="here")
    words = {"untrained": "paper: above 50% becomes best"}.get(name, f"paper: {PAPER.get(name)}")
    axes.axhline(50, color="black", linestyle=":", label=words)
    axes.set_ylim(-5, 105)
    axes.set_xticks(places)
    axes.set_xlabel("iteration")
    axes.set_ylabel("score, %")


STUDY = Study(name="ultimate", scale=0.004, steps=steps, parts=parts)
