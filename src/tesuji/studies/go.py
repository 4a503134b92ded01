"""Study W: Go from scratch in the style of AlphaGo Zero: the tutorial's loop, then its wish list, item by item."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import tesuji
from tesuji import _core, bench
from tesuji.machine import cores as all_cores
from tesuji.protocols.engine import find_program
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

GAME = "go9:komi=5.5"
OURS = "go9"
ITERATIONS, GAMES, PLIES = 100, 50, 80
EXPECTED = (2.3456, 1.8765)  # the losses that the tutorial shows as an example
OPPONENTS = ("random", "mcts:visits=100")
GNUGO = "gtp:gnugo --mode gtp --chinese-rules --capture-all-dead --positional-superko --level 1"
# The wish list. The first of each is the tutorial's own.
BLOCKS, CHANNELS, SIMULATIONS, MORE_GAMES, BOARDS = (
    (4, 8, 16),
    (64, 128, 256),
    (100, 400, 800),
    (50, 200, 1_000),
    (9, 13, 19),
)
BATCH = 32
HELD_OUT = 0.2  # of the games, the newest, which the wish list's networks do not learn from


def steps(lab: Lab) -> Sequence[Step]:
    visits = lab.simulations(SIMULATIONS[0])
    rounds, changes = lab.plan(
        f"self-play games ({ITERATIONS} iterations of {GAMES})",
        ITERATIONS * GAMES,
        a_round=GAMES,
        plies=PLIES,
        crowd=50,
    )
    changes["selfplay.visits"] = visits
    games = lab.count("games of a match", 100, least=2 if lab.trial else 10, even=True, paper="none")
    slow = lab.count("games of a match with many simulations", 100, least=2, even=True, paper="none")
    learned = lab.count(
        "steps of training, each network of the wish list", 4_000, least=2 if lab.trial else 40, paper="–"
    )
    seconds = 0.05 if lab.trial else min(10.0, max(3.0, round(60 * lab.scale, 1)))
    lab.setting("a measurement of speed", "–", f"{seconds:g} s")
    boards = lab.minutes("learning on 13×13 and 19×19, each", 60)
    minutes = lab.minutes("our recipe: preset laptop", 240)

    def strength() -> dict[str, Any]:
        ours = lab.player("paper", lab.net("paper"), visits)
        return {o: lab.match(f"paper-{o.partition(':')[0]}", ours, o, game=GAME, games=games) for o in OPPONENTS}

    def our_matches() -> dict[str, Any]:
        against = {"mcts": f"mcts:visits={50 if lab.trial else 1000}"} | (
            {"gnugo": GNUGO} if find_program("gnugo") else {}
        )
        ours = f"{lab.strong(OURS, 'ours')}visits={visits}"
        here = {"gnugo": all_cores()}  # it may be nowhere else
        return {
            name: lab.match(f"ours-{name}", ours, text, game=OURS, games=games, workers=here.get(name))
            for name, text in against.items()
        }

    return [
        Step("loop", lambda: {"lines": losses(lab.learn("paper", GAME, "paper", changes, rounds=rounds))}),
        Step("strength", strength),
        *(Step(f"blocks-{b}", functools.partial(_network, lab, learned, blocks=b)) for b in BLOCKS),
        *(Step(f"channels-{c}", functools.partial(_network, lab, learned, channels=c)) for c in CHANNELS[1:]),
        *(
            Step(f"simulations-{s}", functools.partial(_simulations, lab, visits, visits * s // SIMULATIONS[0], slow))
            for s in SIMULATIONS[1:]
        ),
        *(Step(f"games-{g}", functools.partial(_more_games, lab, learned, g)) for g in MORE_GAMES),
        *(Step(f"board-{size}", functools.partial(_board, lab, size, boards, visits)) for size in BOARDS[1:]),
        *(Step(f"ownership-{name}", functools.partial(_ownership, lab, learned, weight)) for name, weight in _OWNERS),
        Step("speeds", functools.partial(_speeds, lab, seconds)),
        Step("parallel", functools.partial(_parallel, lab, seconds)),
        Step("ours", lambda: {"lines": losses(lab.recipe("ours", OURS, minutes))}),
        Step("ours-matches", our_matches),
    ]


_OWNERS = (("without", 0.0), ("with", 0.15))


# ── The wish list ──


def _frames(lab: Lab, share: float = 1.0) -> tuple[bytes, bytes]:
    """The loop's games, to learn from (this share of them, the newest) and to be judged by."""
    from tesuji.run import Folder

    data = b"".join(path.read_bytes() for path in Folder(lab.folder / "runs" / "paper").game_files())
    data = data[: _core.scan_frames(data)[0]]
    end = _core.scan_frames(data[: int((1 - HELD_OUT) * len(data))])[0]
    begin = _core.scan_frames(data[: int((1 - share) * end)])[0]
    return data[begin:end], data[end:]


def _study(lab: Lab, net: Any, steps_: int, share: float = 1.0, **settings: float) -> dict[str, float]:
    """A network learns from the loop's games; its losses on those kept apart, which it does not learn from."""
    from tesuji.replay import Window
    from tesuji.train import Learner, TrainSettings

    common: dict[str, Any] = {"warmup": 0, "batch": BATCH, "average": 0.0, **settings}
    learner, judge = (Learner(net, TrainSettings(rate=rate, **common)) for rate in (1e-3, 0.0))
    windows = [Window(net.game, net.encoding) for _ in range(2)]
    for window, frames in zip(windows, _frames(lab, share), strict=True):
        window.append(frames)
    if not all(window.positions for window in windows):
        return {"games": windows[0].games}
    for step in range(steps_):
        lab.say(f"{net.describe()}: {step} of {steps_} steps")
        learner.step(windows[0].sample(BATCH, lab.seed + step))
    told = [judge.step(windows[1].sample(BATCH, lab.seed + 10**6 + step)) for step in range(max(2, steps_ // 10))]
    means = {key: sum(one[key] for one in told) / len(told) for key in ("policy_loss", "value_loss")}
    return {"games": windows[0].games, **{key: round(value, 4) for key, value in means.items()}}


def _speed(
    lab: Lab, game: str, seconds: float, net: Any, *, device: str = "cpu", games: int = 0, cores: int = 0
) -> dict[str, float]:
    """Of self-play with a network of that size, 32 visits a move, on so many cores (0: all)."""
    cores = cores or all_cores()
    games = games or (2 if lab.trial else 16) * cores
    lanes = cores if device == "cpu" else 3
    measure = bench.bench_selfplay(game, net=net, visits=32, games=games, lanes=lanes, threads=cores, device=device)
    measured = measure(seconds)
    return {"evaluations": round(measured.evaluations, 1), "moves": round(measured.moves, 2)}


def _zero(lab: Lab, *, blocks: int = BLOCKS[0], channels: int = CHANNELS[0]) -> dict[str, Any]:
    """A size of the tutorial's network; a mere trial of the program has an eighth of the channels."""
    return {"blocks": blocks, "channels": channels // 8 if lab.trial else channels}


def _network(lab: Lab, steps_: int, **size: int) -> dict[str, Any]:
    from tesuji import nets

    return _study(lab, nets.named(tesuji.game(GAME), "zero", **_zero(lab, **size)), steps_)


def _speeds(lab: Lab, seconds: float) -> dict[str, Any]:
    """Of the wish list's networks and boards, one after the other."""
    from tesuji import nets

    def speed(game: str, **size: int) -> dict[str, float]:
        return _speed(lab, game, seconds, replace(nets.preset("zero"), **_zero(lab, **size)))

    return {
        **{f"blocks-{b}": speed(OURS, blocks=b) for b in BLOCKS},
        **{f"channels-{c}": speed(OURS, channels=c) for c in CHANNELS[1:]},
        **{f"board-{size}": speed(f"go{size}") for size in BOARDS[1:]},
    }


def _simulations(lab: Lab, base: int, visits: int, games: int) -> dict[str, Any]:
    net = lab.net("paper")
    name = f"simulations-{visits}"
    return lab.match(name, lab.player("paper", net, visits), lab.player("paper", net, base), game=GAME, games=games)


def _more_games(lab: Lab, steps_: int, games: int) -> dict[str, Any]:
    from tesuji import nets

    share = games / MORE_GAMES[-1]
    return {"share": share} | _study(lab, nets.named(tesuji.game(GAME), "zero", **_zero(lab)), steps_, share)


def _board(lab: Lab, size: int, minutes: float, visits: int) -> dict[str, Any]:
    changes = {"run.positions": 40, "selfplay.games": 4, "selfplay.visits": visits}
    return {"lines": losses(lab.learn(f"board-{size}", f"go{size}:komi=7.5", "paper", changes, minutes=minutes))}


def _ownership(lab: Lab, steps_: int, weight: float) -> dict[str, Any]:
    from tesuji import nets

    return _study(lab, nets.named(tesuji.game(GAME), "small"), steps_, ownership_weight=weight)


def _parallel(lab: Lab, seconds: float) -> dict[str, Any]:
    import torch

    from tesuji import nets

    zero = replace(nets.preset("zero"), **_zero(lab))
    found = {
        "one game, one core": _speed(lab, OURS, seconds, zero, games=1, cores=1),
        "50 games, one core": _speed(lab, OURS, seconds, zero, games=50, cores=1),
        f"50 games, {all_cores()} cores": _speed(lab, OURS, seconds, zero, games=50),
    }
    if torch.cuda.is_available():
        found["4,096 games, GPU"] = _speed(lab, OURS, seconds, zero, device="cuda", games=4096)
    return found


# ── The report ──


def parts(lab: Lab) -> Sequence[Part]:
    n = lab.numbers
    lines = n["loop"]["lines"]
    return [
        Heading("paper part"),
        Table(
            "go-loop", ("iteration", "self-play games", "positions", "loss", "policy loss", "value loss"), _loop(lines)
        ),
        Table("expected", ("item", "paper", "here"), _expected(lines)),
        Prose(
            "The tutorial's loss is the divergence from the search's policy plus the squared error of the value; ours "
            "has the cross-entropy, which is larger by the entropy of the search, and is shown both ways."
        ),
        Figure("go-loss", lambda axes: _draw(axes, lines)),
        Table(
            "go-strength",
            MATCH_HEADS,
            match_rows([("the loop's network", o, m, "beginner (goal)") for o, m in n["strength"].items()]),
            words=2,
        ),
        Table(
            "wishes",
            ("wish", "value", "paper", "evaluations a second", "policy loss", "value loss", "against base", "note"),
            _wishes(n),
            words=3,
        ),
        Prose(
            "Losses are on games kept apart, after the same number of steps on the same games of the loop. What larger "
            "networks cost is certain; what they gain shows only with more training than a small scale has."
        ),
        Figure("wishes-speed", lambda axes: _draw_speed(axes, n)),
        Table("parallel", ("wish", "evaluations a second", "times as fast", "paper"), _parallel_rows(n["parallel"])),
        Heading("our part"),
        Figure("ours-curve", lambda axes: _draw(axes, n["ours"]["lines"])),
        Table(
            "ours-matches",
            MATCH_HEADS,
            match_rows([("our network", m["players"][1], m, "beginner (goal)") for m in n["ours-matches"].values()]),
            words=2,
        ),
    ]


def _loop(lines: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    keys = ("loss", "policy_loss", "value_loss")
    return [
        [f"{line['round']}", f"{line['games']:,}", f"{line['positions']:,}", *(number(line.get(k), 4) for k in keys)]
        for line in lines
    ]


def _expected(lines: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    learned = [line for line in lines if "loss" in line]
    rows = [["iterations", f"{ITERATIONS}", f"{lines[-1]['round']}"]]
    for place, (words, line) in enumerate(zip(("first", "second"), learned, strict=False)):
        told = f"{EXPECTED[place]} (epoch {place + 1} of the first iteration)"
        rows.append([f"loss, {words} iteration with training: divergence", told, number(_divergence(line), 4)])
        rows.append([f"loss, {words} iteration with training: cross-entropy", "–", number(line["loss"], 4)])
    if learned:
        rows.append(["loss at the end: divergence", "not said", number(_divergence(learned[-1]), 4)])
    return rows


def _divergence(line: Mapping[str, Any]) -> float:
    return float(line["loss"] - line["target_entropy"])


def _wishes(n: Mapping[str, Any]) -> list[list[str]]:
    def row(wish: str, value: object, paper: str, found: Mapping[str, Any], note: str = "") -> list[str]:
        speed = number(found.get("evaluations"), 0)
        cells = [number(found.get(key), 3) for key in ("policy_loss", "value_loss")]
        return [wish, str(value), paper, speed, *cells, percent(found.get("score")), note]

    def network(name: str) -> Mapping[str, Any]:
        return {**n[name], **n["speeds"][name]}

    rows = [row("residual blocks", b, "4 → 8 → 16", network(f"blocks-{b}")) for b in BLOCKS]
    rows += [row("channels", CHANNELS[0], "64 → 128 → 256", network("blocks-4"))]
    rows += [row("channels", c, "64 → 128 → 256", network(f"channels-{c}")) for c in CHANNELS[1:]]
    for s in SIMULATIONS[1:]:
        m = n[f"simulations-{s}"]
        rows.append(row("simulations", f"{s} against 100", "100 → 400 → 800", m, f"{m['games']} games"))
    for g in MORE_GAMES:
        found = n[f"games-{g}"]
        rows.append(row("games an iteration", f"{g:,}", "50 → 200 → 1,000", found, f"{found['games']} games here"))
    for size in BOARDS[1:]:
        found = n[f"board-{size}"]
        last: Mapping[str, Any] = next((line for line in reversed(found["lines"]) if "loss" in line), {})
        made = f"{found['lines'][-1]['games']} games in {found['lines'][-1]['minutes']:.1f} minutes"
        rows.append(row("board", f"{size}×{size}", "19×19", {**last, **n["speeds"][f"board-{size}"]}, made))
    for name, weight in _OWNERS:
        note = "owners of points are learned too" if weight else "the same network without"
        rows.append(row("owners as a target", f"weight {weight:g}", "wished", n[f"ownership-{name}"], note))
    return rows


def _parallel_rows(found: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    base = found["one game, one core"]["evaluations"]
    rows = [
        [name, number(speed["evaluations"], 0), number(speed["evaluations"] / base, 1), "wished"]
        for name, speed in found.items()
    ]
    if not any("GPU" in name for name in found):
        rows.append(["GPU", "there is none here", "–", "wished"])
    return rows


def _draw(axes: Any, lines: Sequence[Mapping[str, Any]]) -> None:
    for key in ("loss", "policy_loss", "value_loss"):
        curve(axes, lines, "games", key, key.replace("_", " "))
    axes.set_xlabel("self-play games")
    axes.set_ylabel("nats; squares")


def _draw_speed(axes: Any, n: Mapping[str, Any]) -> None:
    speeds = n["speeds"]
    found = {f"{b} blocks": speeds[f"blocks-{b}"] for b in BLOCKS}
    found |= {f"{c} channels": speeds[f"channels-{c}"] for c in CHANNELS[1:]}
    found |= {f"{size}×{size}": speeds[f"board-{size}"] for size in BOARDS[1:]}
    axes.bar(list(found), [speed["evaluations"] for speed in found.values()])
    axes.set_yscale("log")
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_ylabel("evaluations a second")


STUDY = Study(name="go", scale=0.005, steps=steps, parts=parts)
