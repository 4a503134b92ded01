"""Games by name. The rules themselves are in ``cpp/games``, one header a family."""

import difflib
import itertools

from tesuji._core import Game, IllegalMove, State, game_names

__all__ = ["Game", "IllegalMove", "State", "family", "game", "games"]


def games() -> list[str]:
    """The names of all games."""
    return game_names()


def game(text: str, /, **numbers: float) -> Game:
    """The game of that name and rule numbers: ``game("go9", komi=5.5)`` or, in one text, ``game("go9:komi=5.5")``."""
    if not isinstance(text, str):
        raise TypeError(f"a game is named by a text, not {type(text).__name__}")
    name, _, settings = text.partition(":")
    for setting in filter(None, settings.split(",")):
        key, _, given = setting.partition("=")
        try:
            numbers[key] = float(given)
        except ValueError:
            raise ValueError(f"{key} must be a number, not {_shown(given)}") from None
    if name not in games():
        raise ValueError(f"there is no game {_shown(name)}: {_suggestion(name)}")
    return Game(name, numbers)


def family(game: Game) -> str:
    """What a game's name begins with: ``ultimate``, ``gomoku``, ``nogo``, ``dots`` or ``go``."""
    return "".join(itertools.takewhile(str.isalpha, game.name))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:30] + "…")


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name[:30].lower(), games(), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "`tesuji games` lists them"
