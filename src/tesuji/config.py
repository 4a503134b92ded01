"""Settings of a run: typed, read from ``configs/<game>.toml``, changed by name, written into the run's folder.

A file has the sections ``[net]``, ``[selfplay]``, ``[train]``, ``[replay]`` and ``[run]`` for every preset;
``[laptop.net]`` and so on change them for one. What a file does not name has the default of its dataclass. In ``[net]``
the key ``size`` names one of the presets of ``nets``, and the other keys change it.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from tesuji.checks import check_numbers
from tesuji.games import Game
from tesuji.games import game as game_of
from tesuji.games import games as game_names

if TYPE_CHECKING:  # nets and train need torch, and reading a setting's name does not
    from tesuji.nets import NetSettings
    from tesuji.selfplay import SelfPlaySettings
    from tesuji.train import TrainSettings

__all__ = [
    "PRESETS",
    "Config",
    "Crowd",
    "ReplaySettings",
    "RunSettings",
    "changed",
    "differences",
    "preset",
    "read",
    "text",
]

PRESETS = ("laptop", "gpu", "paper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How many games are played at once, and on what. In a file these stand in ``[selfplay]``."""

    games: int = 64
    """Games at once."""
    lanes: int = 0
    """Batches under way at once; 0: one a thread on a CPU, three on a GPU."""
    threads: int = 0
    """Threads of the core; 0: one a core of this machine."""

    def __post_init__(self) -> None:
        check_numbers(self, {"games": (1, 1 << 20), "lanes": (0, 64), "threads": (0, 1024)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """Which positions the network learns from, and how often."""

    window_min: int = 20_000
    """The window holds so many of the newest positions at first."""
    window_growth: float = 0.75
    """With n positions made it holds window_min · (n / window_min) ^ window_growth."""
    window_max: int = 2_000_000
    """It never holds more."""
    ratio: float = 4.0
    """Samples trained per position made."""
    value_mix: float = 0.0
    """Share of what the searches said in the value to learn; the rest is the game's result."""
    value_plies: float = 1.0
    """Over how many plies from the position on, on average, later ones less; 1: its own search alone."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            {
                "window_min": (1, 10**10),
                "window_growth": (0, 1),
                "window_max": (1, 10**10),
                "ratio": (0, 1000),
                "value_mix": (0, 1),
                "value_plies": (1, 1000),
            },
        )

    def window(self, positions: int) -> int:
        """How many positions the window holds when so many were made."""
        grown = self.window_min * max(1.0, positions / self.window_min) ** self.window_growth
        return min(self.window_max, int(grown))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The loop around self-play and training."""

    minutes: float = 10.0
    """How long `tesuji train` learns when it is not told."""
    positions: int = 2_000
    """New positions a round: self-play makes them, then the network is trained."""
    save: float = 60.0
    """Seconds between saves."""
    keep: int = 0
    """Every so many rounds the network stays for later; 0: only the measured ones, the best and the newest stay."""
    gating: Literal["latest", "best"] = "latest"
    """Which network plays: the newest, or the last that won its match against the best before it."""
    gate_rounds: int = 1
    """Rounds between those matches."""
    gate_games: int = 20
    gate_threshold: float = 0.55
    """Share of the points that a candidate needs."""
    arena: float = 3.0
    """Minutes between matches against anchors and earlier networks; 0: none."""
    arena_games: int = 10
    """Games a match: an even number."""
    visits: int = 100
    """Visits of the network in all these matches."""
    anchors: tuple[str, ...] = ("random", "mcts:visits=1000")
    """Players to be measured against. The first is the zero of the ratings."""
    encoding: str = "tesuji"
    """The planes that the network sees: tesuji; paper where the game's study has its own; boards of small boards."""
    device: str = "auto"
    """auto, cpu or cuda."""
    kernel: Literal["auto", "fused", "compiled", "torch", "onnx"] = "auto"
    """How the network of self-play is computed; auto takes the fastest that goes with it (docs/nets.md)."""
    start: str = ""
    """A net (.safetensors, or .onnx) whose weights the run begins with, instead of weights by chance."""
    teacher: str = ""
    """The folder of another run, whose games this one learns from instead of playing; also while it makes them."""
    seed: int = 1
    """Another seed plays other games and begins with another network."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            {
                "minutes": (0, 1e7),
                "positions": (1, 10**9),
                "save": (0.1, 1e6),
                "keep": (0, 10**6),
                "gate_rounds": (1, 10**6),
                "gate_games": (2, 10**5),
                "gate_threshold": (0, 1),
                "arena": (0, 1e6),
                "arena_games": (2, 10**5),
                "visits": (1, 10**6),
                "seed": (0, 2**62),
            },
        )
        for name in ("gate_games", "arena_games"):
            if getattr(self, name) % 2:
                raise ValueError(f"{name} is {getattr(self, name)}: give an even number, games are played in pairs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of a run."""

    game: str
    preset: str
    net: "NetSettings"
    selfplay: "SelfPlaySettings"
    crowd: Crowd
    train: "TrainSettings"
    replay: ReplaySettings
    run: RunSettings


@cache
def _parts() -> dict[str, dict[str, type]]:
    """Section of a file → fields of Config → their types."""
    from tesuji.nets import NetSettings
    from tesuji.selfplay import SelfPlaySettings
    from tesuji.train import TrainSettings

    return {
        "net": {"net": NetSettings},
        "selfplay": {"selfplay": SelfPlaySettings, "crowd": Crowd},
        "train": {"train": TrainSettings},
        "replay": {"replay": ReplaySettings},
        "run": {"run": RunSettings},
    }


@cache
def _keys(section: str) -> dict[str, tuple[str, Any]]:
    """Key of a section → field of Config, and the key's type."""
    return {
        field.name: (part, get_type_hints(kind)[field.name])
        for part, kind in _parts()[section].items()
        for field in fields(kind)
    }


# ── Recommended settings ──


def preset(game: str | Game, name: str = "laptop") -> Config:
    """The recommended settings of a game. A game without a file has those of the nearest in its family."""
    g = game if isinstance(game, Game) else game_of(game)
    numbers = ",".join(f"{key}={value:g}" for key, value in g.numbers.items() if value != Game(g.name).numbers[key])
    where = resources.files("tesuji") / "configs" / f"{_file_of(g)}.toml"
    tables = _load(where.read_text(encoding="utf-8"), where.name)
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name[:30]!r}: {_nearest(name, PRESETS)}")
    if name not in tables:
        there = " and ".join(p for p in PRESETS if p in tables)
        raise ValueError(f"{g.name} has no preset {name!r}: it has {there}")
    common = {key: table for key, table in tables.items() if key not in PRESETS}
    return _config(g.name + (f":{numbers}" if numbers else ""), name, _merged(common, tables[name]), where.name)


def _file_of(g: Game) -> str:
    """Its own file, or that of the same family with the nearest number of cells, or default."""
    names = [file.name for file in (resources.files("tesuji") / "configs").iterdir()]
    there = [name.removesuffix(".toml") for name in names if name.endswith(".toml")]
    if g.name in there:
        return g.name
    cells = {name: Game(name).rows * Game(name).cols for name in there if name in game_names()}
    family = [name for name in sorted(cells) if _family(name) == _family(g.name)]
    return min(family, key=lambda name: abs(cells[name] - g.rows * g.cols), default="default")


def _family(name: str) -> str:
    letters = re.match("[a-z]*", name)
    return letters.group() if letters else name


def _merged(common: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {section: {**common.get(section, {}), **more.get(section, {})} for section in {**common, **more}}


# ── Reading and writing ──


def read(path: Path) -> Config:
    """The settings that ``text`` wrote."""
    try:
        tables = _load(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"{path} cannot be read") from None
    game, name = tables.pop("game", None), tables.pop("preset", None)
    if not isinstance(game, str) or not isinstance(name, str):
        raise ValueError(f"{path} does not say its game and preset")
    return _config(game, name, tables, str(path))


def _load(words: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(words)
    except tomllib.TOMLDecodeError as trouble:
        raise ValueError(f"{where} is not TOML: {trouble}") from None


def text(config: Config) -> str:
    """All settings as TOML; ``read`` gives the same Config back."""
    lines = [f"game = {_toml(config.game)}", f"preset = {_toml(config.preset)}"]
    for section, parts in _parts().items():
        lines += ["", f"[{section}]"]
        for part, kind in parts.items():
            values = {field.name: getattr(getattr(config, part), field.name) for field in fields(kind)}
            lines += [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)


def changed(config: Config, changes: Sequence[str] | Mapping[str, object]) -> Config:
    """Settings with changes, as texts such as ``train.rate=0.002`` or by name: ``{"train.rate": 0.002}``."""
    tables = tomllib.loads(text(config))
    given = changes.items() if isinstance(changes, Mapping) else map(_assignment, changes)
    for name, value in given:
        section, _, key = name.partition(".")
        if name == "net.size":
            tables["net"] = {"size": value}
            continue
        if section not in _parts() or key not in _keys(section):
            known = ["net.size", *(f"{part}.{word}" for part in _parts() for word in _keys(part))]
            raise ValueError(f"there is no setting {name[:60]!r}: {_nearest(name, known)}")
        tables[section][key] = value
    return _config(config.game, config.preset, {s: tables[s] for s in _parts()}, "")


def _assignment(change: str) -> tuple[str, object]:
    name, sign, value = change.partition("=")
    if not sign:
        raise ValueError(f"{change[:60]!r} changes nothing: write SECTION.KEY=VALUE, such as train.rate=0.002")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()  # a word needs no quotes


def differences(old: Config, new: Config) -> list[str]:
    """Names of the settings that are not the same."""
    return [
        f"{section}.{key}"
        for section in _parts()
        for key, (part, _) in _keys(section).items()
        if getattr(getattr(old, part), key) != getattr(getattr(new, part), key)
    ]


def _config(game: str, name: str, tables: Mapping[str, Any], where: str) -> Config:
    """Typed settings from tables; every mistake gets a sentence."""
    before = f"{where}: " if where else ""
    parts: dict[str, dict[str, Any]] = {part: {} for kinds in _parts().values() for part in kinds}
    for section, table in tables.items():
        if section not in _parts():
            raise ValueError(f"{before}there is no section {section!r}: {_nearest(section, _parts())}")
        if not isinstance(table, dict):
            raise ValueError(f"{before}{section} must be a section, [{section}]")
        if section == "net":
            table = _sized(table, before)
        for key, value in table.items():
            if key not in _keys(section):
                raise ValueError(f"{before}there is no setting {section}.{key}: {_nearest(key, _keys(section))}")
            part, hint = _keys(section)[key]
            parts[part][key] = _typed(f"{before}{section}.{key}", value, hint)
    made = {}
    for section, kinds in _parts().items():
        for part, kind in kinds.items():
            try:
                made[part] = kind(**parts[part])
            except (ValueError, TypeError) as refusal:
                raise ValueError(f"{before}[{section}] {refusal}") from None
    return Config(game=game, preset=name, **made)


def _sized(table: Mapping[str, Any], before: str) -> dict[str, Any]:
    """[net] with its size spelled out."""
    from tesuji.nets import PRESETS as SIZES

    rest = dict(table)
    size = rest.pop("size", None)
    if size is not None and size not in SIZES:
        raise ValueError(f"{before}net.size is {size!r}: {_nearest(str(size), SIZES)}")
    return rest if size is None else {**asdict(SIZES[size]), **rest}


def _typed(name: str, value: Any, hint: Any) -> Any:
    """A value from TOML as the dataclass wants it."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
        return _typed(name, value, hint)
    if origin is Literal:
        if value not in get_args(hint):
            raise ValueError(f"{name} is {value!r}: {_nearest(str(value), get_args(hint))}")
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)  # 1e6 is a float in TOML
    if origin is tuple and isinstance(value, list):
        return tuple(_typed(name, item, get_args(hint)[0]) for item in value)
    if origin in (dict, Mapping) and isinstance(value, dict):
        return {key: _typed(f"{name}.{key}", item, get_args(hint)[1]) for key, item in value.items()}
    wanted = origin or hint
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", tuple: "a list"}
        raise ValueError(f"{name} is {value!r}: give {words.get(wanted, 'a table of numbers')}")
    return value


def _nearest(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(word, [str(k) for k in known], n=2, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(map(str, known))}"
