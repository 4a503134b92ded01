"""What a file of a net says of itself: the same words in safetensors (for learning) and in ONNX (for playing)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tesuji._core import Game
from tesuji.games import games

__all__ = ["NetInfo", "policy_layout"]

_FORMAT = "tesuji-net"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NetInfo:
    """For which game a net is, what it sees, how it is built, and how far it was trained."""

    game: str
    game_version: int
    encoding: str
    channels: int  # planes that it sees
    actions: int
    settings: dict[str, Any]  # of NetSettings
    step: int = 0  # of training
    extra: dict[str, Any] = field(default_factory=dict)  # whatever else was worth keeping

    def to_metadata(self) -> dict[str, str]:
        """Texts by name."""
        return {
            "format": _FORMAT,
            "format_version": str(_VERSION),
            "game": self.game,
            "game_version": str(self.game_version),
            "encoding": self.encoding,
            "channels": str(self.channels),
            "actions": str(self.actions),
            "settings": json.dumps(self.settings),
            "step": str(self.step),
            "extra": json.dumps(self.extra, ensure_ascii=False),
        }

    @classmethod
    def from_metadata(cls, given: Mapping[str, str], where: Path | str) -> Self:
        """Reads what to_metadata wrote; ValueError with a sentence for anything else."""
        if given.get("format") != _FORMAT:
            raise ValueError(f"{where} is no net of Tesuji")
        if given.get("format_version") != str(_VERSION):
            version = given.get("format_version", "none")[:20]
            raise ValueError(f"{where} has format version {version}: this Tesuji reads version {_VERSION}")
        try:
            info = cls(
                game=given["game"],
                game_version=int(given["game_version"]),
                encoding=given["encoding"],
                channels=int(given["channels"]),
                actions=int(given["actions"]),
                settings=json.loads(given["settings"]),
                step=int(given["step"]),
                extra=json.loads(given["extra"]),
            )
            if not isinstance(info.settings, dict) or not isinstance(info.extra, dict):
                raise ValueError
        except (KeyError, ValueError):
            raise ValueError(f"{where} is damaged: what it says of itself cannot be read") from None
        return info

    def check(self, where: Path | str, game: Game | None = None) -> Game:
        """The game that the net is for: the one given, or the one it names. Refuses a net that does not fit it."""
        if game is not None and game.name != self.game:
            raise ValueError(f"{where} is a net for {self.game[:30]}, not for {game.name}")
        if self.game not in games():
            raise ValueError(f"{where} is a net for {self.game[:30]!r}, a game that is not here")
        found = game or Game(self.game)
        if self.game_version != found.version:
            raise ValueError(
                f"{where} was made for version {self.game_version} of {self.game}, which is at version {found.version} "
                "now: train a new net"
            )
        if self.encoding not in found.encodings:
            raise ValueError(f"{where} wants the encoding {self.encoding[:30]!r}, which {self.game} does not have")
        channels = len(found.plane_names(self.encoding))
        if (self.channels, self.actions) != (channels, found.actions):
            raise ValueError(
                f"{where} is for {self.channels} planes and {self.actions} actions, but {self.game} has {channels} and "
                f"{found.actions}"
            )
        return found


def policy_layout(game: Game) -> tuple[list[int], int]:
    """Where the logit of each action stands, of all cells' and then of those off the board; how many these are."""
    located = [game.locate(action) for action in range(game.actions)]
    off_board = [action for action, cell in enumerate(located) if cell is None]
    cells = game.rows * game.cols
    return [cells + off_board.index(a) if cell is None else cell for a, cell in enumerate(located)], len(off_board)
