"""What is wrong with a run that does not learn, in words; and whether the installation is whole."""

import importlib
import importlib.metadata
import math
import platform
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tesuji
from tesuji import _core, config
from tesuji.config import Config
from tesuji.games import Game, State
from tesuji.games import game as game_of
from tesuji.machine import cores
from tesuji.run import Folder

__all__ = ["Finding", "Health", "examine", "installation"]

_LAST = 5  # rounds that count as now
_GAMES = 500  # newest games to look at
_POSITIONS = 800  # of these games to show the network
_STEPS = 200  # before so many the network cannot know anything


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong."""

    name: str
    seen: str
    means: str
    hint: str

    def __str__(self) -> str:
        return f"{self.name}\n  seen   {self.seen}\n  means  {self.means}\n  try    {self.hint}"


@dataclass(frozen=True, slots=True)
class Health:
    """What the doctor says of a run."""

    findings: tuple[Finding, ...]
    numbers: dict[str, str]

    def __str__(self) -> str:
        head = f"{len(self.findings)} found" if self.findings else "looks healthy"
        lines = [head, *(f"  {name:16}{value}" for name, value in self.numbers.items())]
        return "\n".join([*lines, *(f"\n{finding}" for finding in self.findings)])


def examine(folder: Folder) -> Health:
    """Reads a run's folder; it may be learning meanwhile."""
    folder.check()
    settings = config.read(folder.config)
    game = game_of(settings.game)
    lines = folder.metrics()
    trained = [line for line in lines if "loss" in line]
    if not trained:
        early = Finding(
            "too early to say",
            f"{len(lines)} rounds, none with training",
            "the first games are still being played, or the run was never given time",
            "let it learn for some minutes",
        )
        return Health((early,), {})
    records = _core.read_frames(game, folder.last_frames())[-_GAMES:]
    sample = _judged(folder, game, settings, records, trained[-1]["steps"])
    findings = [*_training(trained), *_window(lines, settings), *_games(lines, records, game), *_device(lines)]
    findings += [] if sample is None else _values(sample)
    return Health(tuple(findings), _numbers(lines, trained, sample))


def _mean(lines: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Of the last rounds that have the number."""
    found = [line[key] for line in lines if line.get(key) is not None][-_LAST:]
    return statistics.fmean(found) if found else None


def _numbers(
    lines: Sequence[Mapping[str, Any]], trained: Sequence[Mapping[str, Any]], sample: "_Sample | None"
) -> dict[str, str]:
    last = lines[-1]
    told = {
        "made": f"{last['games']:,} games, {last['positions']:,} positions, {last['steps']:,} steps",
        "time": f"{last['minutes']:.1f} minutes",
    }
    for name, key in (("loss", "loss"), ("policy loss", "policy_loss"), ("value loss", "value_loss")):
        then, now = trained[0].get(key), _mean(trained, key)
        if then is not None and now is not None:
            told[name] = f"{now:.3f}, from {then:.3f}"
    if sample is not None:
        told["value"] = f"explains {sample.explained:.0%} of the results"
    for name, key, form in (
        ("entropy", "policy_entropy", "{:.2f} of the network"),
        ("game length", "length", "{:.1f} plies"),
        ("First scores", "first_score", "{:.0%}"),
        ("device busy", "device_busy", "{:.0%}"),
        ("replay ratio", "ratio", "{:.2f}"),
    ):
        if (mean := _mean(lines, key)) is not None:
            told[name] = form.format(mean)
    return told


# ── The network's values against the results ──


@dataclass(frozen=True, slots=True)
class _Sample:
    """Positions of the newest games: what the newest network says for the mover, and what came of it."""

    value: NDArray[np.float64]
    result: NDArray[np.float64]
    mover: NDArray[np.int64]

    @property
    def explained(self) -> float:
        """How much smaller the error is than that of the best constant guess; 0: not at all."""
        spread = float(self.result.var())
        return 1 - float(((self.result - self.value) ** 2).mean()) / spread if spread > 1e-9 else 0.0

    def correlation(self, mover: int) -> float | None:
        value, result = (x[self.mover == mover] for x in (self.value, self.result))
        if len(value) < 50 or value.std() < 1e-6 or result.std() < 1e-6:
            return None
        return float(np.corrcoef(value, result)[0, 1])


def _judged(
    folder: Folder, game: Game, settings: Config, records: Sequence[Mapping[str, Any]], steps: int
) -> _Sample | None:
    from tesuji.evaluate import evaluator

    if steps < _STEPS or not folder.nets() or not records:
        return None
    chance = random.Random(1)
    states: list[State] = []
    results: list[int] = []
    for record in chance.choices(records, k=_POSITIONS):
        searched = [ply for ply, visits in enumerate(record["visits"]) if visits]
        if searched:
            played = Game(game.name, record["numbers"])
            states.append(played.replay(record["actions"][: chance.choice(searched)]))
            results.append(record["result"] * (1 if states[-1].to_play == 0 else -1))
    net = evaluator(folder.net(folder.nets()[-1]), game, settings.run.device)
    _, value = net.answer(states)
    return _Sample(
        np.asarray(value, np.float64), np.array(results, np.float64), np.array([state.to_play for state in states])
    )


def _values(sample: _Sample) -> list[Finding]:
    names = "First", "Second"
    signs = {names[mover]: sample.correlation(mover) for mover in (0, 1)}
    wrong = {name: r for name, r in signs.items() if r is not None and r < -0.1}
    if wrong:
        told = " and ".join(f"{r:+.2f} where {name} moves" for name, r in wrong.items())
        return [
            Finding(
                "sign error",
                f"values and results of {len(sample.value)} positions correlate {told}",
                "the value is for the wrong player somewhere: the search then looks for the worst moves",
                "check who the mover is in the game's planes, and that values turn to First's side by the game's "
                "to_play and never by counting plies; `tesuji check-game` looks for such mistakes",
            )
        ]
    if sample.result.std() > 0.1 and sample.explained < 0.02:
        guess = float(sample.result.var())
        error = float(((sample.result - sample.value) ** 2).mean())
        return [
            Finding(
                "dead value head",
                f"squared error {error:.3f} on {len(sample.value)} positions, {guess:.3f} for always guessing the mean",
                "the network knows nothing of who wins, so the search follows the policy alone",
                "a larger train.value_weight, a lower train.rate, more variety (selfplay.opening_share), more "
                "replay.value_mix where games are long",
            )
        ]
    return []


# ── The numbers of the rounds ──


def _training(trained: Sequence[Mapping[str, Any]]) -> list[Finding]:
    found = []
    losses = [line["loss"] for line in trained]
    norms = [line["grad_norm"] for line in trained if "grad_norm" in line]
    now = statistics.fmean(losses[-_LAST:])
    best = min(statistics.fmean(losses[i : i + _LAST]) for i in range(max(1, len(losses) - _LAST + 1)))
    numbers = [x for line in trained for x in line.values() if isinstance(x, float)]
    usual = statistics.median(norms) if norms else 0.0
    loud = statistics.fmean(norms[-_LAST:]) if norms else 0.0
    refused = sum(line.get("refused", 0) for line in trained[-_LAST:])
    if (
        refused
        or not all(map(math.isfinite, numbers))
        or now > 1.3 * best + 0.1
        or (len(norms) >= 10 and loud > 10 * usual)
    ):
        found.append(
            Finding(
                "exploding rate",
                f"loss {now:.3f}, {best:.3f} at its best; gradient norm {loud:.2f}, usually {usual:.2f}; "
                f"{refused} steps without a finite loss",
                "steps are too large: the network forgets faster than it learns",
                f"a third of the rate (now {trained[-1].get('rate', 0):.2g}): --set train.rate=…, and train.clip at 1",
            )
        )
    entropy, target = _mean(trained, "policy_entropy"), _mean(trained, "target_entropy")
    if entropy is not None and target is not None and target > 0.1 and entropy < 0.5 * target:
        found.append(
            Finding(
                "entropy collapsed",
                f"the network's policy has {entropy:.2f} nats, the searches' {target:.2f}",
                "the network is surer than its teacher: other moves are no longer tried",
                "more selfplay.considered (with puct: more selfplay.noise_weight), a lower train.rate, a larger window",
            )
        )
    return found


def _window(lines: Sequence[Mapping[str, Any]], settings: Config) -> list[Finding]:
    found = []
    steps, age, ratio = lines[-1]["steps"], _mean(lines, "window_age"), _mean(lines, "ratio")
    if age is not None and steps >= _STEPS and age > 0.7 * steps:
        found.append(
            Finding(
                "stale window",
                f"the games in the window were played by networks {age:,.0f} steps old, of {steps:,} in all",
                "the network learns from games that it would no longer play",
                "a smaller window (replay.window_max, window_growth), a smaller replay.ratio, or run.gating=latest",
            )
        )
    wanted = settings.replay.ratio
    if ratio is not None and steps and len(lines) > _LAST and not 0.7 * wanted < ratio < 1.3 * wanted:
        found.append(
            Finding(
                "replay ratio off",
                f"{ratio:.2f} samples were trained per position made; {wanted:g} are asked for",
                "training and self-play are out of step: the settings were changed, or games or saves were lost",
                "go on for a while; a run catches up by itself",
            )
        )
    return found


def _games(lines: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]], game: Game) -> list[Finding]:
    found = []
    repeats = len(records) - len({tuple(record["actions"]) for record in records})
    if len(records) >= 20 and repeats > 0.3 * len(records):
        found.append(
            Finding(
                "identical games",
                f"{repeats} of the last {len(records)} games went exactly as another one",
                "self-play goes round in circles and shows the network nothing new",
                "selfplay.opening_share and opening_plies, noise, a higher temperature; small games end so",
            )
        )
    first, draws = _mean(lines, "first_score"), _mean(lines, "draws")
    if first is not None and len(records) >= 20 and not 0.03 < first < 0.97:
        found.append(
            Finding(
                "one side always wins",
                f"First scores {first:.0%} of the points",
                "results say nothing any more; where a side wins by force (Gomoku's First) learning leads there",
                "random openings (selfplay.opening_share=0.5), or komi where the game has one",
            )
        )
    length = _mean(lines, "length")
    if length is not None and length > 0.95 * game.max_plies:
        games, plies = game.time_playouts(0.02, seed=1)
        if plies / games < 0.9 * game.max_plies:
            found.append(
                Finding(
                    "games at the length bound",
                    f"{length:.0f} plies a game, {game.max_plies} are the most that there can be, random games have "
                    f"{plies / games:.0f}",
                    "games do not come to their natural end, so results are those of the bound",
                    "selfplay.resign=0.9, and more visits: the players do not see how to finish",
                )
            )
    if draws is not None and draws > 0.97 and len(records) >= 20:
        found.append(
            Finding(
                "everything is drawn",
                f"{draws:.0%} of the games",
                "there is no difference to learn from",
                "random openings (selfplay.opening_share=0.5, more opening_plies)",
            )
        )
    wrong = _mean(lines, "resign_wrong")
    if wrong is not None and wrong > 0.1:
        found.append(
            Finding(
                "players give up too early",
                f"{wrong:.0%} of the games that were played out nevertheless were not lost",
                "the network learns that won positions are lost",
                "selfplay.resign=0.95 or more, selfplay.resign_plies, or 0 for never",
            )
        )
    return found


def _device(lines: Sequence[Mapping[str, Any]]) -> list[Finding]:
    busy = _mean(lines, "device_busy")
    resting = _mean(lines, "resting") or 0.0
    if resting > 0.4:
        return [
            Finding(
                "learner behind",
                f"the workers of the cluster rest {resting:.0%} of the time",
                "they make more games than the learner can learn from at this replay ratio: some are paid for nothing",
                "fewer workers, a GPU for the learner (run.device), or a lower replay.ratio",
            )
        ]
    if busy is None or busy >= 0.4:
        return []
    speed = _mean(lines, "evaluations_per_second") or 0.0
    return [
        Finding(
            "starved device",
            f"the network is at work {busy:.0%} of the time, {speed:,.0f} evaluations a second",
            "it waits for the search, the disk or the matches between networks",
            "more games at once (selfplay.games), more threads, matches less often (run.arena); on a GPU more lanes",
        )
    ]


# ── The installation ──


def installation() -> list[str]:
    """What is installed, a line each."""
    lines = [
        f"tesuji        {tesuji.__version__}",
        f"Python        {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"cores         {cores()}",
        f"core          {len(tesuji.games())} games, {_core_speed():,.0f} random games of go9 a second",
    ]
    wants = {
        "numpy": "",
        "onnxruntime": "playing with a network on a CPU needs it",
        "torch": "learning needs it: pip install 'tesuji[train]'",
        "safetensors": "learning needs it: pip install 'tesuji[train]'",
        "onnx": "learning needs it: pip install 'tesuji[train]'",
        "ray": "optional: `tesuji cluster` needs it: pip install 'tesuji[cluster]'",
        "tensorboard": "optional: curves while a run learns",
        "matplotlib": "optional: `tesuji curves` needs it: pip install 'tesuji[plots]'",
    }
    for name, why in wants.items():
        try:
            lines.append(f"{name:14}{importlib.metadata.version(name)}{_detail(name)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{name:14}missing: {why}")
        except Exception as trouble:  # a broken installation of it
            lines.append(f"{name:14}broken: {trouble}")
    return lines


def _core_speed() -> float:
    games, _ = Game("go9").time_playouts(0.05, seed=1)
    return games / 0.05


def _detail(name: str) -> str:
    tell: dict[str, Callable[[Any], str]] = {
        "onnxruntime": lambda module: ", ".join(module.get_available_providers()),
        "torch": lambda module: (
            f"GPU {module.cuda.get_device_name()}" if module.cuda.is_available() else "no GPU: it learns on the CPU"
        ),
    }
    return f" ({tell[name](importlib.import_module(name))})" if name in tell else ""
