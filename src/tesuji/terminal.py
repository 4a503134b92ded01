"""A game in the terminal: you type moves, a player answers."""

from collections.abc import Callable

from tesuji._core import Game, State
from tesuji.players import Player

__all__ = ["play"]

_HELP = "Type a move, or: moves (list them), hint, undo, new, quit."


def play(game: Game, opponent: Player | None, side: int, ask: Callable[[str], str], say: Callable[[str], None]) -> None:
    """Plays games until the person quits; ``opponent`` None: two people. ``ask`` raises EOFError at its end."""
    say(f"{game.title}. {_HELP}")
    state = game.start()
    told = False
    while True:
        say("")
        say(str(state))
        if state.result is not None:
            if state.score is not None:
                say(f"Score: First {state.score:+g}")
            # Some players learn from what was played.
            if not told and (finish := getattr(opponent, "finish", None)):
                finish(state)
        told = state.result is not None
        if opponent is not None and state.result is None and state.to_play != side:
            thought = opponent.think(state)
            say(f"I play {thought.move}.")
            state = state.play(thought.action)
            continue
        try:
            words = ask("new or quit> " if state.result is not None else "your move> ").strip()
        except EOFError:
            return
        if words == "quit":
            return
        state = _obey(words, state, opponent, side, say)


def _obey(words: str, state: State, opponent: Player | None, side: int, say: Callable[[str], None]) -> State:
    """The state after a command or a move; the same state, and a sentence, where there is nothing to do."""
    game = state.game
    match words:
        case "":
            return state
        case "help" | "?":
            say(_HELP)
        case "moves":
            say(" ".join(state.moves()))
        case "new":
            return game.start()
        case "undo":
            # Back to the person's own last choice.
            history = list(state.history)
            while history:
                history.pop()
                state = game.replay(history)
                if opponent is None or state.to_play == side:
                    break
        case "hint" if state.result is None:
            if opponent is None:
                say("There is nobody to ask.")
            else:
                say(f"I would play {opponent.think(state).move}.")
        case _:
            try:
                return state.play(words)
            except ValueError as refusal:
                say(f"{refusal}.")
    return state
