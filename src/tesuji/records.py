"""Games that were played in a match, on disk: a readable file that ``tesuji replay`` shows and a match resumes from.

While a match runs, each finished game is one line of a journal beside the file (``FILE.json.journal``), flushed to the
disk. When the match ends or is interrupted, all games are written to the file itself, and the journal goes.
"""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tesuji._core import Game, State

__all__ = ["GameRecord", "Journal", "read_records", "write_safely"]


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game of a match."""

    number: int  # from 1
    game: str
    numbers: dict[str, float]  # the game's rule numbers
    first: str  # the label of who moved first: "A", "B", …
    second: str
    players: dict[str, str]  # their texts, by label
    opening: tuple[str, ...]  # moves that were given
    moves: tuple[str, ...]  # those that the players made after it
    result: int  # +1 First won, 0 drawn, −1 Second won
    reason: str  # "played out", or why it was not
    seconds: tuple[float, ...]  # of each move
    visits: tuple[int, ...]
    values: tuple[float | None, ...]  # what the mover thought, for First; None where it had no opinion

    @property
    def played_out(self) -> bool:
        return self.reason == "played out"

    @property
    def winner(self) -> str | None:
        """The label; None for a draw."""
        return {1: self.first, 0: None, -1: self.second}[self.result]

    def states(self) -> list[State]:
        """The state after the opening and after each move."""
        state = Game(self.game, self.numbers).replay(self.opening)
        states = [state]
        for move in self.moves:
            state = state.play(move)
            states.append(state)
        return states

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"opening": " ".join(self.opening), "moves": " ".join(self.moves)}

    @classmethod
    def from_json(cls, given: Any) -> Self:
        """Reads what to_json wrote; ValueError with a sentence for anything else."""
        try:
            fields = dict(given)
            for key in ("opening", "moves"):
                fields[key] = tuple(fields[key].split())
            for key in ("seconds", "visits", "values"):
                fields[key] = tuple(fields[key])
            record = cls(**fields)
            if record.result not in (1, 0, -1) or {record.first, record.second} - set(record.players):
                raise ValueError
            record.number + 0  # a number
        except (TypeError, ValueError, KeyError, AttributeError):
            raise ValueError("that is no record of a game") from None
        return record


def write_safely(path: Path, content: str | bytes) -> None:
    """All or nothing, even if the power fails: written beside, flushed, renamed."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_records(path: Path) -> tuple[dict[str, Any], dict[int, GameRecord]]:
    """What a match file or a journal holds: its heading, and its games by number."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as trouble:
        raise ValueError(f"{path} cannot be read: {trouble.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no match file") from None
    try:
        if path.suffix == ".journal":
            # The last line may be torn: the process was killed while it wrote.
            lines = text[: text.rfind("\n") + 1].splitlines()
            heading, *games = [json.loads(line) for line in lines] or [{}]
        else:
            heading = json.loads(text)
            games = heading.pop("games", [])
            heading.pop("summary", None)
        if not isinstance(heading, dict) or ((heading or path.suffix != ".journal") and "tesuji" not in heading):
            raise ValueError
        records = [GameRecord.from_json(game) for game in games]
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"{path} is no match file, or is damaged") from None
    return heading, {record.number: record for record in records}


class Journal:
    """The games of one match on disk. Opening it brings back those that were finished before."""

    def __init__(self, path: Path, heading: dict[str, Any]) -> None:
        self.path = path
        self.heading = heading
        self.records: dict[int, GameRecord] = {}
        self._beside = path.with_name(f"{path.name}.journal")
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
        for old in (path, self._beside):
            if old.exists():
                theirs, records = read_records(old)
                self._check(theirs, old)
                self.records |= records
        self._file: IO[bytes] = self._beside.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise ValueError(f"{path} is being written by a match that runs now") from None
        # Cut off a torn last line, so that the next one starts afresh.
        text = self._beside.read_bytes()
        self._file.truncate(text.rfind(b"\n") + 1)
        if self._file.seek(0, os.SEEK_END) == 0:
            self._append(heading)

    def _check(self, theirs: dict[str, Any], where: Path) -> None:
        for key, ours in self.heading.items():
            if theirs and theirs.get(key) != ours:
                raise ValueError(
                    f"{where} belongs to another match ({key}: {str(theirs.get(key))[:60]}, not {str(ours)[:60]}): "
                    "give the same words as then, or another file"
                )

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def add(self, record: GameRecord) -> None:
        self.records[record.number] = record
        self._append(record.to_json())

    def finish(self, summary: dict[str, Any]) -> None:
        """Writes the file itself, whole; then the journal is not needed."""
        games = [self.records[number].to_json() for number in sorted(self.records)]
        lines = [
            f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in self.heading.items()
        ]
        lines.append(f'  "summary": {json.dumps(summary, ensure_ascii=False)},')
        body = ",\n".join("    " + json.dumps(game, ensure_ascii=False) for game in games)
        write_safely(self.path, "{\n" + "\n".join(lines) + f'\n  "games": [\n{body}\n  ]\n}}\n')
        self._beside.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
