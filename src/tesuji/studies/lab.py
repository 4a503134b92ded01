"""What all studies have in common: a folder with steps that are done once, and a report.

FOLDER/
  study.json       which study, at what scale, with what seed
  numbers/         a file a step: its raw numbers
  matches/         the games of matches         runs/    runs of training         tables/    study D's
  report.md        report.html (needs nothing else)          figures/   PNG
"""

import base64
import contextlib
import fcntl
import functools
import io
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import tesuji
from tesuji import arena, reports
from tesuji.games import game as game_of
from tesuji.machine import cores
from tesuji.netplayer import has_net, shipped
from tesuji.progress import clock, progress
from tesuji.records import GameRecord, read_records, write_safely
from tesuji.studies.words import both

__all__ = [
    "MATCH_HEADS",
    "Figure",
    "Heading",
    "Lab",
    "Part",
    "Prose",
    "Step",
    "Study",
    "Table",
    "curve",
    "losses",
    "match_rows",
    "number",
    "percent",
]

_EVERY = 10.0  # seconds between lines about a step, where there is no terminal
_SCALES = (1e-9, 10.0)
_TRIAL = 1e-4
_TRIAL_CROWD: dict[str, object] = {"selfplay.games": 4, "selfplay.visits": 8, "run.positions": 40}
_SHORT = 5.0  # minutes
_SHORT_ROUNDS: dict[str, object] = {"run.positions": 400, "train.warmup": 10}
_ROUNDS = 4  # at least: a curve of fewer points is none
_MINUTES = 5.0  # at most, of what no paper has: enough for its curve


# ── What a study says ──


@dataclass(frozen=True, slots=True)
class Step:
    """Something to measure. ``make`` gives its numbers, such that JSON can hold them."""

    name: str
    make: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Heading:
    """Its words are those of a key."""

    key: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; caption and heads are keys of ``words``, or stand for themselves."""

    key: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1  # the first so many columns hold words, the others numbers


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture; ``draw`` is given matplotlib's axes. Words in it are English: few machines have a font for both."""

    key: str
    draw: Callable[[Any], None]


Part = Heading | Prose | Table | Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study: what it measures, and what it shows of that."""

    name: str
    scale: float
    """A fraction of the paper's games that takes less than ten minutes on two cores."""
    steps: Callable[["Lab"], Sequence[Step]]
    parts: Callable[["Lab"], Sequence[Part]]
    """The report, once all steps are done."""


# ── The folder ──


class Lab:
    """A study in its folder.

    ``learn`` and ``match``: whatever does as ``Run.learn`` and ``arena.match`` do, for what may be played elsewhere.
    None: this machine.
    """

    def __init__(
        self,
        study: Study,
        folder: Path,
        *,
        scale: float | None = None,
        seed: int | None = None,
        learn: Callable[..., Mapping[str, Any]] | None = None,
        match: Callable[..., arena.Match] | None = None,
    ) -> None:
        self.study = study
        self._learn, self._match = learn, match
        self.folder = folder.resolve()
        if "," in str(self.folder):
            raise ValueError(
                f"{folder} has a comma in its name, which a player such as net:PATH,visits=100 cannot have"
            )
        self.numbers: dict[str, Any] = {}  # of the steps that are done
        self._times: dict[str, tuple[float, float]] = {}  # seconds, and the machine's load at the end
        self._settings: list[tuple[str, str, str]] = []
        self._said = 0.0
        found = self._read()
        given = {"scale": scale, "seed": seed}
        own = {"scale": study.scale, "seed": 1}
        chosen = {key: found.get(key, own[key]) if value is None else value for key, value in given.items()}
        self.scale, self.seed = float(chosen["scale"]), int(chosen["seed"])
        if not _SCALES[0] <= self.scale <= _SCALES[1]:
            raise ValueError(f"scale is {self.scale:g}: give a fraction of the paper's games, above 0 and at most 10")
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed is {self.seed}: give a number from 0 to {2**31 - 1}")
        self._about = {"tesuji": "study, format 1", "study": study.name, "scale": self.scale, "seed": self.seed}
        for key, ours in self._about.items():
            if found and found.get(key) != ours:
                raise ValueError(
                    f"{folder} holds a study with {key} {found.get(key)}, not {ours}: give another folder by --out"
                )

    def _read(self) -> dict[str, Any]:
        """What study.json says; empty where there is none yet."""
        path = self.folder / "study.json"
        if not path.exists():
            if self.folder.exists() and (
                not self.folder.is_dir() or {entry.name for entry in self.folder.iterdir()} - {"lock", "study.json.new"}
            ):
                raise ValueError(f"{self.folder} holds other things: give a new folder by --out, or an empty one")
            return {}
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            found["study"], found["scale"], found["seed"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is damaged: give another folder by --out") from None
        return found

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process a study."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"another process is at this study in {self.folder}: stop it first") from None
            yield

    def carry_out(self) -> Path:
        """Does the steps that are not done yet, and writes the report. Returns the path of report.md."""
        _figure_class()  # better missed now than at the end
        for part in ("numbers", "matches", "runs", "tables", "figures"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        write_safely(self.folder / "study.json", json.dumps(self._about, indent=2) + "\n")
        steps = self.study.steps(self)
        for place, step in enumerate(steps, 1):
            path = self.folder / "numbers" / f"{step.name}.json"
            if not path.exists():
                self.say(f"step {place} of {len(steps)}: {step.name}", True)
                began = time.perf_counter()
                made = step.make()
                spent = round(time.perf_counter() - began, 3)
                kept = {"seconds": spent, "load": round(os.getloadavg()[0], 1), "numbers": made}
                words = json.dumps(kept, indent=1, ensure_ascii=False)
                write_safely(path, words + "\n")
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                self.numbers[step.name] = kept["numbers"]
                self._times[step.name] = kept["seconds"], kept["load"]
            except (OSError, ValueError, KeyError, TypeError):
                raise ValueError(f"{path} is damaged: remove it, and the step is done again") from None
        return self._write_report()

    # ── What steps use ──

    def count(self, what: str, full: int, *, least: int = 1, even: bool = False, paper: str | None = None) -> int:
        """So many of something at this scale; ``full`` at scale 1. The report lists it beside the paper's number.

        ``paper``: what the paper says, where that is not ``full``.
        """
        here = max(least, round(full * self.scale))
        here += here % 2 if even else 0
        self.setting(what, f"{full:,}" if paper is None else paper, f"{here:,}")
        return here

    def plan(
        self, what: str, games: int, *, a_round: int, plies: int, crowd: int, paper: str | None = None
    ) -> tuple[int, dict[str, object]]:
        """Of a run that makes so many games at scale 1, so many a round: the rounds here, and settings for them.

        ``plies``: of a game, about. ``crowd``: games at once; where a round has fewer games, so many as that. No paper
        speaks of a warm-up.
        """
        games = self.count(what, games, least=6, paper=paper)
        rounds = max(_ROUNDS, round(games / a_round))
        positions = max(24, games * plies // rounds)
        return rounds, {
            "run.positions": positions,
            "selfplay.games": max(2, min(crowd, positions // plies)),
            "train.warmup": 0,
        }

    def training(self, plies: int) -> dict[str, object]:
        """Where a paper does not say how much it trains: five steps of 512 positions a game of so many plies."""
        if self.trial:
            return {}
        self.setting("training", "not said", f"5 steps of 512 positions a game of {plies} plies")
        return {"train.batch": 512, "replay.ratio": round(5 * 512 / plies, 1)}

    def simulations(self, full: int, *, paper: str | None = None) -> int:
        """Of a search: the paper's number; only a mere trial of the program has fewer."""
        here = max(4, full // 64) if self.trial else full
        self.setting("simulations a move", f"{full:,}" if paper is None else paper, f"{here:,}")
        return here

    @property
    def trial(self) -> bool:
        """Whether the scale is so small that a study only shows that it works: searches and batches are cut too."""
        return self.scale < _TRIAL

    def minutes(self, what: str, full: float) -> float:
        """So many minutes of learning at this scale, of what no paper has; at least about a second, and less for a mere
        trial.
        """
        here = min(_MINUTES, max(0.005 if self.trial else 0.02, round(full * self.scale, 3)))
        self.setting(what, "–", f"{here:g} minutes")
        return here

    def setting(self, what: str, paper: str, here: str) -> None:
        """A row of the report's table of settings."""
        if (row := (what, paper, here)) not in self._settings:
            self._settings.append(row)

    def say(self, line: str, last: bool = False) -> None:
        """Tells how far a step is; now and then, or at once where the line is the last of its kind."""
        if sys.stderr.isatty():
            print(f"\r{line:<79}", end="\n" if last else "", file=sys.stderr, flush=True)
        elif last or time.monotonic() - self._said >= _EVERY:
            self._said = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def match(
        self,
        name: str,
        ours: str,
        theirs: str,
        *,
        game: str,
        games: int,
        openings: int | None = None,
        workers: int | None = None,
    ) -> dict[str, Any]:
        """A match's numbers. Its games are in matches/NAME.json: what is there is not played again.

        ``workers``: so many games at once, on this machine wherever others are played, because the match measures
        time or needs what is here. None: all cores, or whoever plays for this study.
        """
        play: Callable[..., arena.Match] = functools.partial(arena.match, workers=1 if games <= arena.FEW else workers)
        if workers is None and self._match is not None:
            play = self._match
        with progress(lambda records: f"{name}: {_standing(records)}") as watch:
            played = play(
                ours,
                theirs,
                game=game,
                games=games,
                seed=self.seed,
                openings=openings,
                out=self.match_file(name),
                watch=watch,
            )
        bounds = (played.estimate.low, played.estimate.high)
        low, high = (round(x, 1) if math.isfinite(x) else None for x in bounds)
        return {
            "players": [self.shown(ours), self.shown(theirs)],
            "games": len(played.games),
            "wins": played.wins,
            "draws": played.draws,
            "losses": played.losses,
            "as_first": played.as_first,
            "as_second": played.as_second,
            "score": round(played.score, 4),
            "elo": [low, round(played.elo, 1), high],
            "seconds": [round(played.pace[label][0], 5) for label in played.labels],
            "visits": [round(played.pace[label][1], 2) for label in played.labels],
            "length": round(played.length, 2),
            "repeats": played.repeats,
            "forfeits": played.forfeits,
        }

    def match_file(self, name: str) -> Path:
        return self.folder / "matches" / f"{name}.json"

    def records(self, name: str) -> dict[int, GameRecord]:
        """The games of a match that was played."""
        return read_records(self.match_file(name))[1]

    def mistakes(self, name: str, *, seconds: float = 10.0) -> dict[str, dict[str, int]]:
        """A match's moves judged by the exact solvers, by player and side: "A First", "A Second", "B First" …"""
        from tesuji.mistakes import judge

        accounts = judge(
            self.records(name),
            seconds=seconds,
            watch=lambda done, total: self.say(f"{name}: {done} of {total} games judged"),
        )
        return {
            f"{label} {('First', 'Second')[side]}": {
                "moves": account.moves,
                "unknown": account.unknown,
                "lost_result": account.lost_result,
                "lost_margin": account.lost_margin,
            }
            for (label, side), account in sorted(accounts.items())
        }

    def learn(
        self,
        name: str,
        game: str,
        preset: str,
        changes: Mapping[str, object],
        *,
        rounds: int | None = None,
        minutes: float | None = None,
    ) -> list[dict[str, Any]]:
        """Learns in runs/NAME until there are so many rounds or minutes in all; the lines of metrics.jsonl."""
        from tesuji.run import Run
        from tesuji.watch import watching

        own: dict[str, object] = {"run.seed": self.seed, "run.arena": 0}
        if self.trial:
            own |= {"train.batch": 64, "train.warmup": 2, "replay.ratio": 2.0} | (
                _TRIAL_CROWD if preset == "laptop" else {}
            )
        run = Run(self.folder / "runs" / name, game, preset, own | dict(changes))
        learn = self._learn or Run.learn

        def watch(event: str, facts: Mapping[str, Any]) -> None:
            tell(event, facts)
            if event == "end" and facts["asked"]:
                raise KeyboardInterrupt  # the run is saved

        with watching() as tell:
            # A run that was killed goes on from its last save, which may be some rounds before its last line.
            while True:
                last = run.folder.last_metrics() if run.folder.begun else {}
                if rounds is not None and (left := rounds - int(last.get("round", 0))) > 0:
                    learn(run, rounds=left, watch=watch)
                elif minutes is not None and (not last or minutes - last["minutes"] > 0.01):
                    learn(run, minutes=minutes - last.get("minutes", 0.0), watch=watch)
                    after = run.folder.last_metrics()
                    if after == last or not after["games"]:  # the time was too short for anything
                        learn(run, rounds=1, watch=watch)
                else:
                    return run.folder.metrics()

    def recipe(self, name: str, game: str, minutes: float) -> list[dict[str, Any]]:
        """Learns with our own preset for a laptop. A rate that falls does so in the time that there is, and in a few
        minutes there is none for large rounds.
        """
        from tesuji import config

        falls = config.preset(game, "laptop").train.decay == "cosine"
        changes: dict[str, object] = {"train.decay_minutes": minutes} if falls else {}
        if minutes < _SHORT and not self.trial:
            changes |= _SHORT_ROUNDS
        return self.learn(name, game, "laptop", changes, minutes=minutes)

    def net(self, name: str, steps: int | None = None) -> str:
        """The file of a run's network, to play with: after so many steps, or the newest."""
        from tesuji.run import Folder

        folder = Folder(self.folder / "runs" / name)
        return str(folder.net(steps, ".onnx") if steps is not None else folder.newest_net().with_suffix(".onnx"))

    def player(self, run: str, net: str, visits: int, **more: float) -> str:
        """The player whose search is that of a run's self-play, with one of its networks."""
        from tesuji.run import Run

        c = Run(self.folder / "runs" / run).config.selfplay
        options = {"visits": visits, "c": c.c, "fpu": c.fpu, "candidates": c.candidates, **more}
        if not c.candidates:
            options["solve"] = 0
        return f"net:{net},rule={c.rule}," + ",".join(f"{key}={value:g}" for key, value in options.items())

    def best_net(self, run: str) -> str:
        """The best network of a run with a gate, which keeps it beside the newest."""
        from tesuji.run import Folder

        return self.net(run, Folder(self.folder / "runs" / run).nets()[0])

    def untrained(self, name: str) -> str:
        """The file of a run's network before its first step."""
        from tesuji import nets
        from tesuji.run import Run

        path = self.folder / "runs" / f"{name}-untrained.onnx"
        if not path.exists():
            c = Run(self.folder / "runs" / name).config
            nets.export_onnx(nets.Net(game_of(c.game), c.net, c.run.encoding, seed=c.run.seed), path)
        return str(path)

    def strong(self, game: str, run: str) -> str:
        """Our network of a game as the beginning of a player's text: the one that ships, or that of a run."""
        return "net:" if has_net(game_of(game)) else f"net:{self.net(run)},"

    def strong_net(self, game: str, run: str) -> str:
        """The file of that network."""
        return str(shipped(game_of(game))) if has_net(game_of(game)) else self.net(run)

    def shown(self, player: str) -> str:
        """A player's text for people: without the folder."""
        return player.replace(f"{self.folder}{os.sep}", "")

    # ── The report ──

    def _write_report(self) -> Path:
        parts = [Table("settings", ("item", "paper", "here"), self._settings), *self.study.parts(self)]
        times = [(name, f"{seconds:,.1f}", f"{load:g}") for name, (seconds, load) in self._times.items()]
        spent = sum(seconds for seconds, _ in self._times.values())
        parts.append(Table("steps", ("step", "seconds", "load"), [*times, ("all", f"{spent:,.1f}", "")]))
        title = both(self.study.name)
        facts = (
            f"`tesuji study {self.study.name} --scale {self.scale:g} --seed {self.seed}`: {self.scale:g} of the "
            f"paper's games, {clock(spent)} in all, {platform.system()} {platform.machine()}, "
            f"{cores()} cores; Tesuji {tesuji.__version__}, {time.strftime('%Y-%m-%d')}."
        )
        plain = [f"# {title}", facts, *(self._markdown(part) for part in parts)]
        body = f"<p>{_html(facts)}</p>\n" + "".join(self._html(part) for part in parts)
        write_safely(self.folder / "report.html", reports.page(title, body))
        path = self.folder / "report.md"
        write_safely(path, "\n\n".join(plain) + "\n")
        return path

    def _markdown(self, part: Part) -> str:
        match part:
            case Heading(key):
                return f"## {both(key)}"
            case Prose(text):
                return text
            case Figure(key):
                self._draw(part)
                return f"![{both(key)}](figures/{key}.png)\n\n*{both(key)}*"
            case Table(key, heads, rows):
                lines = [[both(head) for head in heads], ["---"] * len(heads), *rows]
                return f"**{both(key)}**\n\n" + "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)

    def _html(self, part: Part) -> str:
        match part:
            case Heading(key):
                return f"<h2>{escape(both(key))}</h2>\n"
            case Prose(text):
                return f"<p>{_html(text)}</p>\n"
            case Figure(key):
                data = base64.b64encode((self.folder / "figures" / f"{key}.png").read_bytes()).decode()
                caption = escape(both(key))
                return (
                    f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
                    f"<figcaption>{caption}</figcaption></figure>\n"
                )
            case Table(key, heads, rows, words):
                body = reports.html_table([both(head) for head in heads], rows, text=set(range(words)))
                return f"<h3>{escape(both(key))}</h3>\n{body}"

    def _draw(self, part: Figure) -> None:
        figure = _figure_class()(figsize=(7, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
        part.draw(axes)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=80)
        write_safely(self.folder / "figures" / f"{part.key}.png", picture.getvalue())


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise ValueError("a study draws figures with matplotlib: pip install 'tesuji[plots]'") from None
    return Canvas


def _standing(records: Mapping[int, GameRecord]) -> str:
    wins = sum(record.winner == "A" for record in records.values())
    losses = sum(record.winner == "B" for record in records.values())
    return f"{wins} won, {losses} lost"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _html(text: str) -> str:
    """Prose with its marks of code."""
    parts = text.split("`")
    return "".join(f"<code>{escape(part)}</code>" if place % 2 else escape(part) for place, part in enumerate(parts))


# ── What reports have in common ──

MATCH_HEADS = ("player", "opponent", "games", "wins", "draws", "losses", "score", "paper")


def match_rows(rows: Sequence[tuple[str, str, Mapping[str, Any], str]]) -> list[list[str]]:
    """Rows for MATCH_HEADS: player, opponent, the match, what the paper says."""
    return [
        [ours, theirs, *(f"{m[key]:,}" for key in ("games", "wins", "draws", "losses")), percent(m["score"]), paper]
        for ours, theirs, m, paper in rows
    ]


def curve(axes: Any, lines: Sequence[Mapping[str, Any]], across: str, up: str, label: str) -> None:
    """One number of a run's lines over another, where both are there."""
    points = [(line[across], line[up]) for line in lines if line.get(up) is not None]
    if points:
        axes.plot(*zip(*points, strict=True), marker="." if len(points) < 40 else "", label=label)


def losses(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What reports show of a run's lines."""
    return [{key: line[key] for key in _SHOWN if line.get(key) is not None} for line in lines]


_SHOWN = (
    *("round", "games", "positions", "steps", "minutes", "loss", "policy_loss", "value_loss", "policy_entropy"),
    *("target_entropy", "evaluations_per_second", "positions_per_second", "gate", "net_age"),
)


def percent(share: float | None) -> str:
    """Such as 93.7%; – where there is none."""
    return "–" if share is None else f"{share:.1%}"


def number(value: float | None, digits: int = 2) -> str:
    """With thousands apart; – where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"
