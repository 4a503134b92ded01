"""The command line. Bad input is answered with one sentence and exit code 2."""

import io
import os
import signal
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, NoReturn, Protocol, TextIO

import typer

import tesuji
from tesuji import arena, reports, terminal
from tesuji import bench as benchmarks
from tesuji.analysis import Analysis
from tesuji.machine import cores
from tesuji.players import Forfeit
from tesuji.playthrough import playthrough as transcript
from tesuji.progress import progress
from tesuji.records import GameRecord, read_records, write_safely
from tesuji.thought import Thought

if TYPE_CHECKING:
    from tesuji.cluster import Kind
    from tesuji.run import Run, Watcher

app = typer.Typer(
    name="tesuji", help="Learns board games by playing itself, and plays them with you.", add_completion=False
)
bench = typer.Typer(help="Measure speed.")
app.add_typer(bench, name="bench")
table = typer.Typer(help="Study D: a learned table of Dots and Boxes.")
app.add_typer(table, name="table")
cluster = typer.Typer(help="Learn, play matches and repeat studies on several machines, with Ray.")
app.add_typer(cluster, name="cluster")

GameName = Annotated[
    str, typer.Argument(metavar="GAME", help="A game, such as go9 or go9:komi=5.5; `tesuji games` lists them.")
]


class Engine(Protocol):
    """Something that answers another program."""

    def serve(self, source: BinaryIO, out: TextIO) -> None:
        """Until the other has no more to say."""


def _fail(sentence: object) -> NoReturn:
    print(f"tesuji: {sentence}", file=sys.stderr)
    raise typer.Exit(2)


def _game(text: str) -> tesuji.Game:
    try:
        return tesuji.game(text)
    except (ValueError, TypeError) as refusal:
        _fail(refusal)


@contextmanager
def _answering() -> Iterator[None]:
    """A refusal ends the command with a sentence, Ctrl-C with code 130."""
    try:
        yield
    except (ValueError, TypeError) as refusal:
        _fail(refusal)
    except KeyboardInterrupt:
        print()
        raise typer.Exit(130) from None


def _at_least(what: str, value: float, least: float) -> None:
    if not value >= least:
        _fail(f"{what} is {value:g}: give at least {least:g}")


@app.command()
def games(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Tell all about this one.")] = None,
) -> None:
    """List the games, or tell all about one."""
    if name is not None:
        _tell(_game(name))
        return
    print(f"{'name':15}{'grid':>7}{'actions':>9}{'planes':>8}  what it is")
    for g in map(tesuji.game, tesuji.games()):
        numbers = "".join(f", {key} {value:g}" for key, value in g.numbers.items())
        print(f"{g.name:15}{f'{g.rows}×{g.cols}':>7}{g.actions:>9}{len(g.plane_names()):>8}  {g.title}{numbers}")


def _tell(g: tesuji.Game) -> None:
    print(f"{g.title} ({g.name}, version {g.version})")
    print(f"{g.rows}×{g.cols} grid, {g.actions} actions, at most {g.max_plies} plies, {g.symmetries} symmetries")
    for key, value in g.numbers.items():
        print(f"{key} = {value:g}")
    for encoding in g.encodings:
        print(f"planes ({encoding}):")
        for number, plane in enumerate(g.plane_names(encoding)):
            print(f"  {number:2}  {plane}")
    print()
    print(g.start())


@app.command("check-game")
def check_game(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Only this one.")] = None,
    games: Annotated[int, typer.Option(help="Random games to play.")] = 100,
    seed: Annotated[int, typer.Option(help="Another seed plays other games.")] = 1,
) -> None:
    """Check by random play that a game (or every game) obeys the laws."""
    _at_least("games", games, 1)
    _at_least("seed", seed, 0)
    broken = 0
    for g in [_game(name)] if name is not None else map(tesuji.game, tesuji.games()):
        sentences = g.broken_laws(games, seed=seed)
        print(f"{g.name:15} {'breaks' if sentences else 'obeys'} the laws in {games} random games", flush=True)
        for sentence in sentences:
            print(f"    broken: {sentence}")
        broken += bool(sentences)
    if broken:
        raise typer.Exit(1)


@app.command()
def playthrough(
    name: GameName, seed: Annotated[int, typer.Option(help="Another seed shows another game.")] = 1
) -> None:
    """Print a readable transcript of a random game: boards, moves, planes, result."""
    _at_least("seed", seed, 0)
    sys.stdout.write(transcript(_game(name), seed))


@app.command()
def play(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="The game to show first.")] = None,
    port: Annotated[int, typer.Option(help="The port, or the next free one; 0: any free one.")] = 8210,
    host: Annotated[
        str, typer.Option(help="The address to listen at: 0.0.0.0 lets others in, from wherever they can reach you.")
    ] = "127.0.0.1",
    names: Annotated[
        list[str] | None, typer.Option("--name", help="A name of this machine under which others may ask for it.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Where the Lab looks for runs of training.")] = Path("runs"),
) -> None:
    """Play in the browser: five games, analysis, review, and the Lab."""
    from tesuji.web import server

    if name is not None:
        _game(name)
    if not 0 <= port <= 65535:
        _fail(f"port is {port}: give a number from 0 to 65535")
    try:
        listening = server.bind(host, port)
    except ValueError as refusal:
        _fail(refusal)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/" + (f"#{name}" if name is not None else "")
    print(f"Tesuji plays at {address} (Ctrl-C ends it)", flush=True)
    # Without a screen a browser for terminals would open, here.
    if browser and (sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(address)
    server.serve(server.Server(runs=runs, hosts=(*(names or []), host)), listening)


@app.command("levels")
def show_levels(
    name: GameName,
    games: Annotated[int, typer.Option(help="Games of each level against the next: an even number.")] = 20,
    seconds: Annotated[float, typer.Option(help="Break a match off after so many seconds.")] = 60.0,
    seed: Annotated[int, typer.Option(help="Another seed plays other games.")] = 1,
    write: Annotated[bool, typer.Option("--write", help="Keep the ratings in levels.toml.")] = False,
) -> None:
    """Measure the levels of the web app by matches of each against the next."""
    from tesuji.web import levels

    def told(lower: str, higher: str, played: int, score: float) -> None:
        print(f"{higher} scored {score:.0%} against {lower} in {played} games", file=sys.stderr, flush=True)

    g = _game(name)
    _at_least("seconds", seconds, 0.001)
    try:
        measured = levels.measure(g, games=games, seconds=seconds, seed=seed, watch=told)
        print(f"{'level':11}{'rating':>7}{'error':>8}  player")
        for level in measured:
            print(f"{level.name:11}{level.rating:7.0f}{level.error:8.0f}  {level.player}")
        if write:
            command = f"tesuji levels {name} --games {games} --seconds {seconds:g} --seed {seed}"
            print(levels.write(g, measured, command))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except (ValueError, RuntimeError, OSError) as refusal:
        _fail(refusal)


@app.command("terminal")
def play_in_terminal(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game; without it you are asked.")] = None,
    opponent: Annotated[
        str, typer.Option(help="A player such as random, mcts:visits=5000 or alphabeta:depth=4, or human.")
    ] = "mcts:seconds=0.5",
    second: Annotated[bool, typer.Option("--second", help="You move second.")] = False,
) -> None:
    """Play against the program, here in the terminal."""
    try:
        g = _game(name) if name is not None else _ask_game()
        them = None if opponent == "human" else _player(opponent, g)
        terminal.play(g, them, int(second), input, print)
    except Forfeit as loss:
        print(f"Your opponent {loss}: you win.")
    except (EOFError, KeyboardInterrupt):
        print()
    except OSError as refusal:  # a player that learns could not save
        _fail(refusal)


def _player(text: str, g: tesuji.Game) -> tesuji.Player:
    try:
        return tesuji.player(text, g)
    except (ValueError, TypeError) as refusal:
        _fail(refusal)


def _ask_game() -> tesuji.Game:
    print("Games: " + ", ".join(tesuji.games()))
    while True:
        try:
            return tesuji.game(input("Which game? [ultimate] ").strip() or "ultimate")
        except ValueError as refusal:
            print(f"{refusal}.")


# ── Matches ──

PlayerText = Annotated[
    str, typer.Argument(metavar="PLAYER", help="Such as random, mcts:visits=2000 or gtp:gnugo --mode gtp.")
]
InGame = Annotated[str, typer.Option("--game", help="A game, such as go9 or go9:komi=5.5.")]
Workers = Annotated[int | None, typer.Option(help="Games to play at once; without it, one a core.")]
Seed = Annotated[int, typer.Option(help="Another seed plays other games.")]
OpeningPlies = Annotated[int | None, typer.Option(help="Random plies before the players begin, instead of a book.")]
Out = Annotated[
    Path | None, typer.Option(help="A file (JSON) for the games; the same command goes on where it stopped.")
]
Html = Annotated[Path | None, typer.Option(help="A file for a report to look at in a browser.")]
MoveSeconds = Annotated[
    float | None,
    typer.Option(help="Who takes longer for a move loses; without it only guests are timed, with 60 seconds."),
]


GamesToPlay = Annotated[int, typer.Option(help="How many: an even number.")]
SprtBounds = Annotated[
    str | None, typer.Option("--sprt", metavar="ELO0,ELO1", help="Stop when it is clear which difference is nearer.")
]


@app.command("match")
def play_match(
    first: PlayerText,
    second: PlayerText,
    game: InGame = "go9",
    games: GamesToPlay = 100,
    workers: Workers = None,
    seed: Seed = 1,
    opening_plies: OpeningPlies = None,
    sprt: SprtBounds = None,
    out: Out = None,
    html: Html = None,
    move_seconds: MoveSeconds = None,
) -> None:
    """Play two players against each other, and measure the difference."""
    options = {"seed": seed, "openings": opening_plies, "move_seconds": move_seconds, "workers": workers}
    _match(tesuji.match, (first, second), _game(game), games, sprt, out, html, options)


def _match(
    play: Callable[..., tesuji.Match],
    players: tuple[str, str],
    g: tesuji.Game,
    games: int,
    sprt: str | None,
    out: Path | None,
    html: Path | None,
    options: Mapping[str, object],
) -> None:
    bounds = _elos(sprt) if sprt is not None else None

    def standing(records: Mapping[int, GameRecord]) -> tesuji.Match:
        ordered = [records[number] for number in sorted(records) if number <= games]
        return arena.match_of(g, players, ordered, bounds)

    def describe(records: Mapping[int, GameRecord]) -> str:
        now = standing(records)
        test = f", ratio {now.sprt.llr:+.2f} of ±{now.sprt.bound:.2f}" if now.sprt is not None else ""
        return f"A {now.score:.1%}, Elo {reports.elo_text(now.estimate)}{test}"

    with _watched(describe, out) as (watch, left):
        played = play(*players, game=g, games=games, sprt=bounds, out=out, watch=watch, **options)
        left.clear()
    if left:
        played = standing(left[0])
    print(reports.match_text(played), end="")
    if html is not None:
        _write(html, reports.match_html(played))
    if left:
        raise typer.Exit(130)


@app.command("tournament")
def play_tournament(
    players: Annotated[list[str], typer.Argument(metavar="PLAYER…", help="Two or more players.")],
    game: InGame = "go9",
    games: Annotated[int, typer.Option(help="How many between any two: an even number.")] = 20,
    workers: Workers = None,
    seed: Seed = 1,
    opening_plies: OpeningPlies = None,
    out: Out = None,
    html: Html = None,
    move_seconds: MoveSeconds = None,
) -> None:
    """Play everybody against everybody, and rate them."""
    g = _game(game)
    with _watched(lambda records: "", out) as (watch, left):
        played = tesuji.tournament(
            players,
            game=g,
            games=games,
            seed=seed,
            openings=opening_plies,
            move_seconds=move_seconds,
            workers=workers,
            out=out,
            watch=watch,
        )
        left.clear()
    if left:
        played = tesuji.Tournament(g, tuple(players), tuple(left[0][number] for number in sorted(left[0])))
    print(reports.tournament_text(played), end="")
    if html is not None:
        _write(html, reports.tournament_html(played))
    if left:
        raise typer.Exit(130)


@contextmanager
def _watched(
    describe: Callable[[Mapping[int, GameRecord]], str], out: Path | None
) -> Iterator[tuple[arena.Watcher, list[Mapping[int, GameRecord]]]]:
    """A watcher, and a list in which the finished games are left when Ctrl-C (or SIGTERM) interrupts the block."""
    left: list[Mapping[int, GameRecord]] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with progress(describe) as tell:

            def watch(records: Mapping[int, GameRecord], total: int) -> None:
                left[:] = [records]
                tell(records, total)

            yield watch, left
    except (ValueError, TypeError, RuntimeError, OSError) as refusal:
        _fail(refusal)
    except KeyboardInterrupt:
        if not left or not left[0]:
            raise typer.Exit(130) from None
        hint = "the same command goes on" if out is not None else "with --out it could go on later"
        print(f"interrupted after {len(left[0])} games: {hint}", file=sys.stderr)


def _elos(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        _fail(f"sprt is {text[:30]!r}: give two Elo differences such as 0,50")
    return low, high


def _write(path: Path, text: str) -> None:
    try:
        write_safely(path, text)
    except OSError as trouble:
        _fail(f"{path} cannot be written: {trouble.strerror}")


@app.command("replay")
def show_replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What match or tournament wrote with --out.")],
    number: Annotated[int | None, typer.Option(help="Which game; without it, all are listed.")] = None,
    boards: Annotated[bool, typer.Option("--boards", help="Show the board after every move.")] = False,
) -> None:
    """Show a game of a match: its moves and boards."""
    try:
        _, records = read_records(file)
        if number is None:
            for record in records.values():
                plies = len(record.opening) + len(record.moves)
                won = f"{record.winner} won" if record.winner else "drawn"
                print(f"{record.number:5}  {record.first} First  {won:6} {plies:4} plies  {record.reason}")
            return
        if number not in records:
            _fail(f"there is no game {number} in {file}: it has {len(records)} games")
        _show(records[number], boards)
    except ValueError as refusal:
        _fail(refusal)


def _show(record: GameRecord, boards: bool) -> None:
    states = record.states()
    for name, label in (("First", record.first), ("Second", record.second)):
        print(f"{name}: {label}, {record.players[label]}")
    print(f"opening: {' '.join(record.opening) or 'none'}")
    sides = [state.to_play for state in states]
    if boards:
        print(states[0])
    for ply, move in enumerate(record.moves):
        value = record.values[ply]
        thought = f", value {value:+.2f}" if value is not None else ""
        looked = f", {record.visits[ply]} visits" if record.visits[ply] else ""
        who = (record.first, record.second)[sides[ply]]
        print(f"{ply + len(record.opening) + 1:4}  {who}  {move:5} {record.seconds[ply]:.3f} s{looked}{thought}")
        if boards:
            print(states[ply + 1])
    if not boards or not record.moves:
        print(states[-1])
    print(f"{record.winner} won" if record.winner else "drawn", f"({record.reason})")


@app.command()
def solve(
    name: GameName,
    moves: Annotated[str, typer.Argument(metavar="MOVES", help="The moves so far, such as 'b2 c3'.")] = "",
    seconds: Annotated[float, typer.Option(help="Give up after so many seconds.")] = 30.0,
    nodes: Annotated[int, typer.Option(help="Give up after so many positions.")] = 1_000_000_000,
) -> None:
    """Tell what best play by both leads to: the result, the best moves, and the margin or the distance."""
    with _answering():
        state = _game(name).replay(moves)
        found = tesuji.solve(state, nodes=nodes, seconds=seconds)
    print(state)
    print(f"result  {_outcome(found.result)}")
    if found.unknown is not None:
        print(f"why     {found.unknown}")
    if found.margin is not None:
        print(f"margin  {found.margin:+g} for First")
    if found.plies is not None:
        print(f"plies   {found.plies}")
    if found.best:
        print(f"best    {' '.join(found.best)}{'' if found.complete else ' (perhaps more)'}")
    print(f"nodes   {found.nodes:,} in {found.seconds:.2f} s")


@app.command()
def mistakes(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Games that `tesuji match --out FILE` wrote.")],
    seconds: Annotated[float, typer.Option(help="Give up a position after so many seconds.")] = 30.0,
) -> None:
    """Judge the moves of a match by the exact solvers: how often did each player give value away?"""
    from tesuji.mistakes import judge

    _at_least("seconds", seconds, 0.001)
    with _answering():
        records = read_records(path)[1]
        if not records:
            raise ValueError(f"{path} holds no games")
        accounts = judge(records, seconds=seconds, watch=_count_games)
    names = {label: text for record in records.values() for label, text in record.players.items()}
    for label, text in sorted(names.items()):
        print(f"{label}  {text}")
    print(f"\n{'':11}{'judged':>10}{'unknown':>10}{'lost result':>14}{'lost margin':>14}")
    for (label, side), account in sorted(accounts.items()):
        result = f"{account.lost_result} ({account.rate:.2%})" if account.rate is not None else ""
        margin = f"{account.lost_margin} ({account.margin_rate:.2%})" if account.margin_rate is not None else ""
        who = f"{label} as {('First', 'Second')[side]}"
        print(f"{who:11}{account.moves:10}{account.unknown:10}{result:>14}{margin:>14}")


def _count_games(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} games", end="\r", file=sys.stderr, flush=True)


def _outcome(result: int | None) -> str:
    return "unknown" if result is None else ("drawn", "First wins", "Second wins")[result]


# ── Other programs ──

EnginePlayer = Annotated[
    str, typer.Option("--player", metavar="PLAYER", help="Who plays; without it, the best that is at hand.")
]
Threads = Annotated[int, typer.Option(help="Threads of the net.")]
Megabytes = Annotated[int, typer.Option("--memory", help="Megabytes that a search may take.")]


@app.command("gtp")
def serve_gtp(
    name: GameName,
    player: EnginePlayer = "",
    threads: Threads = 1,
    memory: Megabytes = 256,
    resign: Annotated[float, typer.Option(help="Give up when the value is below minus this; 0: never.")] = 0.0,
) -> None:
    """Speak GTP on standard input and output: for Sabaki, GoGui and other programs. Go, NoGo, Gomoku."""
    from tesuji.protocols.gtp_engine import GtpEngine

    _serve(lambda: GtpEngine(_game(name), player, threads=threads, memory=memory << 20, resign=resign))


@app.command("gomocup")
def serve_gomocup(player: EnginePlayer = "", threads: Threads = 1) -> None:
    """Speak the protocol of Gomocup on standard input and output: for Piskvork. Gomoku, five in a row."""
    from tesuji.protocols.gomocup_engine import GomocupEngine

    _serve(lambda: GomocupEngine(player, threads=threads))


@app.command("analyze")
def show_analysis(
    name: GameName,
    moves: Annotated[str, typer.Argument(metavar="MOVES", help="The moves so far, such as 'e5 c3'.")] = "",
    visits: Annotated[int | None, typer.Option(help="Search so many visits.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Search so many seconds; without visits, 2.")] = None,
    player: Annotated[str, typer.Option("--player", metavar="PLAYER", help="net:PATH or mcts.")] = "",
    threads: Threads = 1,
    memory: Megabytes = 256,
    top: Annotated[int, typer.Option(help="Show so many candidates.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Answer queries in JSON, as KataGo's analysis does.")] = False,
) -> None:
    """Look at a position: candidate moves, what they are worth, and what would follow."""
    if as_json:
        from tesuji.protocols.json_engine import JsonEngine

        _serve(lambda: JsonEngine(_game(name), player, threads=threads, memory=memory << 20))
        return
    with _answering():
        state = _game(name).replay(moves)
        analysis = Analysis(state.game, player, threads=threads, memory=memory << 20)
        analysis.look(state)
        thought = analysis.grow(visits=visits, seconds=2.0 if visits is seconds is None else seconds)
    print(state)
    _show_thought(thought, top, analysis)


def _show_thought(thought: Thought, top: int, analysis: Analysis) -> None:
    value = 0.0 if thought.value is None else thought.value
    print(f"value   {value:+.3f} for First")
    if thought.proven is not None:
        print(f"proven  {_outcome(thought.proven)}; plies to the end: {thought.plies}")
    print(f"visits  {analysis.visits:,} in {thought.seconds:.2f} s, {thought.memory / 1e6:,.1f} MB\n")
    print(f"{'move':8}{'visits':>10}{'value':>9}{'prior':>8}  what would follow")
    for line in thought.lines[: max(1, top)]:
        worth = "–" if line.value is None else f"{line.value:+.3f}"
        if line.proven is not None:
            worth = {1: "First", 0: "draw", -1: "Second"}[line.proven]
        prior = f"{line.prior:.1%}" if analysis.guided and line.prior is not None else ""
        print(f"{line.moves[0]:8}{line.visits:>10,}{worth:>9}{prior:>8}  {' '.join(line.moves[:12])}")


def _serve(make: Callable[[], Engine]) -> None:
    """Answers another program on standard input and output."""
    try:
        engine = make()
    except (ValueError, TypeError) as refusal:
        _fail(refusal)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    try:
        # Without a buffer: at the end a thread may still wait for more, and must hold no lock then.
        engine.serve(io.FileIO(sys.stdin.fileno(), closefd=False), sys.stdout)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(0)  # nobody listens any more


# ── Learning ──

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, such as runs/go9.")]


Preset = Annotated[str | None, typer.Option(help="laptop, gpu or paper; without it, laptop.")]
Minutes = Annotated[float | None, typer.Option(help="How long; without it, what the preset says.")]
Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting, such as train.rate=0.002.")
]
Start = Annotated[
    Path | None, typer.Option(metavar="NET", help="Begin with the weights of this net (.safetensors or .onnx).")
]
Teacher = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Learn from the games of this run instead of playing any.")
]
LearningSeed = Annotated[int | None, typer.Option(help="Another seed learns from other games.")]
Learn = Callable[["Run", float | None, "Watcher"], object]  # for so many minutes, told to a watcher


@app.command()
def train(
    name: GameName,
    run: Annotated[Path | None, typer.Option(metavar="DIR", help="The run's folder; without it, runs/GAME.")] = None,
    preset: Preset = None,
    minutes: Minutes = None,
    changes: Changes = None,
    start: Start = None,
    teacher: Teacher = None,
    seed: LearningSeed = None,
) -> None:
    """Learn a game by self-play. The same command goes on where it stopped; Ctrl-C saves."""
    folder = run or Path("runs") / name.replace(":", "-")
    _train(
        name,
        folder,
        preset,
        minutes,
        _changes(changes, start, seed, teacher),
        lambda learning, minutes, watch: learning.learn(minutes=minutes, watch=watch),
    )


def _changes(changes: list[str] | None, start: Path | None, seed: int | None, teacher: Path | None = None) -> list[str]:
    named = {"run.seed": seed, "run.start": start, "run.teacher": teacher}
    return [*(changes or []), *(f"{name}={value}" for name, value in named.items() if value is not None)]


def _train(
    name: str, folder: Path, preset: str | None, minutes: float | None, changes: list[str], learn: Learn
) -> None:
    _game(name)
    if minutes is not None:
        _at_least("minutes", minutes, 0)
    try:
        from tesuji.run import Run
        from tesuji.watch import watching

        learning = Run(folder, name, preset, changes)
        with watching(learning.folder.tensorboard) as watch:
            learn(learning, minutes, watch)
    except KeyboardInterrupt:
        print(f"\nleft at once: the same command goes on from the last save in {folder}", file=sys.stderr)
        raise typer.Exit(130) from None
    except ModuleNotFoundError as missing:
        _fail(f"learning needs the package {missing.name}: pip install 'tesuji[train]'")
    except (ValueError, TypeError, OSError) as refusal:
        _fail(refusal)
    print(f"saved in {folder}: the same command goes on, `tesuji doctor {folder}` looks at it", file=sys.stderr)


StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="ultimate, gomoku, nogo, dots or go.")]
Scale = Annotated[
    float | None,
    typer.Option(help="A fraction of the paper's games: 1 is the paper; without it, what takes a few minutes."),
]
StudyFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The study's folder; without it, runs/study-STUDY.")
]
StudySeed = Annotated[int | None, typer.Option(help="Another seed plays other games; without it, 1.")]


@app.command("study")
def do_study(name: StudyName, scale: Scale = None, out: StudyFolder = None, seed: StudySeed = None) -> None:
    """Repeat a paper's experiment, and write a report. The same command goes on where it stopped."""

    def carry_out(folder: Path) -> Path:
        from tesuji import studies

        return studies.carry_out(name, folder, scale=scale, seed=seed)

    _study(name, out, carry_out)


def _study(name: str, out: Path | None, carry_out: Callable[[Path], Path]) -> None:
    folder = out or Path("runs") / f"study-{name}"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        report = carry_out(folder)
    except KeyboardInterrupt:
        print(f"\nstopped: the same command goes on in {folder}", file=sys.stderr)
        raise typer.Exit(130) from None
    except ModuleNotFoundError as missing:
        _fail(f"a study needs the package {missing.name}: pip install 'tesuji[train,plots]'")
    except (ValueError, TypeError, RuntimeError, OSError) as refusal:
        _fail(refusal)
    print(report.read_text(encoding="utf-8"))
    print(f"the report is {report}; report.html beside it needs no other file", file=sys.stderr)


# ── Several machines ──

Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="A Ray cluster, or auto: this machine's; without it, this machine alone."),
]


CpusPerWorker = Annotated[int, typer.Option(help="CPUs of each of them, a thread each.")]
GpuWorkers = Annotated[
    int | None, typer.Option(help="Workers with a GPU; without it, as many as there is room for at any time.")
]
GpusPerWorker = Annotated[float, typer.Option(help="The share of a GPU that each of those has.")]
CpusPerGpuWorker = Annotated[int, typer.Option(help="CPUs of each of those.")]


def _kinds(workers: int | None, cpus: int, gpu_workers: int | None, gpus: float, more_cpus: int) -> "tuple[Kind, Kind]":
    from tesuji.cluster import Kind

    if gpus == 0:
        raise ValueError("gpus-per-worker is 0: give --gpu-workers 0 where nobody should have a GPU")
    return Kind(count=gpu_workers, cpus=more_cpus, gpus=gpus), Kind(count=workers, cpus=cpus)


@cluster.command("train")
def cluster_train(
    name: GameName,
    run: Annotated[Path, typer.Option(metavar="DIR", help="The run's folder, on this machine.")],
    address: Address = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers without a GPU; without it, as many as there is room for at any time.")
    ] = None,
    cpus_per_worker: CpusPerWorker = 1,
    gpu_workers: GpuWorkers = None,
    gpus_per_worker: GpusPerWorker = 1.0,
    cpus_per_gpu_worker: CpusPerGpuWorker = 4,
    preset: Preset = None,
    minutes: Minutes = None,
    changes: Changes = None,
    start: Start = None,
    seed: LearningSeed = None,
) -> None:
    """Learn a game with self-play on a cluster. The same command goes on where it stopped; Ctrl-C saves."""

    def learn(learning: "Run", minutes: float | None, watch: "Watcher") -> None:
        from tesuji import cluster as there

        kinds = _kinds(workers, cpus_per_worker, gpu_workers, gpus_per_worker, cpus_per_gpu_worker)
        there.learn(learning, address=address, kinds=kinds, minutes=minutes, watch=watch)

    _train(name, run, preset, minutes, _changes(changes, start, seed), learn)


@cluster.command("match")
def cluster_match(
    first: PlayerText,
    second: PlayerText,
    game: InGame = "go9",
    games: GamesToPlay = 100,
    address: Address = None,
    workers: Annotated[int | None, typer.Option(help="Games to play at once; without it, one a CPU there.")] = None,
    seed: Seed = 1,
    opening_plies: OpeningPlies = None,
    sprt: SprtBounds = None,
    out: Out = None,
    html: Html = None,
    move_seconds: MoveSeconds = None,
) -> None:
    """Play two players against each other on a cluster: the same games as `tesuji match` plays."""
    from tesuji import cluster as there

    options = {"seed": seed, "openings": opening_plies, "move_seconds": move_seconds, "workers": workers}
    _match(there.match, (first, second), _game(game), games, sprt, out, html, options | {"address": address})


@cluster.command("study")
def cluster_study(
    name: StudyName,
    address: Address = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Workers without a GPU, and games of a match at once; without it, as many as there is room for."
        ),
    ] = None,
    cpus_per_worker: CpusPerWorker = 1,
    gpu_workers: GpuWorkers = None,
    gpus_per_worker: GpusPerWorker = 1.0,
    cpus_per_gpu_worker: CpusPerGpuWorker = 4,
    scale: Scale = None,
    out: StudyFolder = None,
    seed: StudySeed = None,
) -> None:
    """Repeat a paper's experiment with self-play and matches on a cluster. `tesuji study` may go on with it."""

    def carry_out(folder: Path) -> Path:
        from tesuji import cluster as there

        kinds = _kinds(workers, cpus_per_worker, gpu_workers, gpus_per_worker, cpus_per_gpu_worker)
        return there.study(name, folder, address=address, kinds=kinds, workers=workers or None, scale=scale, seed=seed)

    _study(name, out, carry_out)


@app.command("doctor")
def show_doctor(
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run; without it, the program itself.")] = None,
) -> None:
    """Say in words what is wrong with a run that does not learn, or what is installed."""
    from tesuji import doctor
    from tesuji.run import Folder

    try:
        if run is None:
            print("\n".join(doctor.installation()))
        else:
            health = doctor.examine(Folder(run))
            print(health)
            if health.findings:
                raise typer.Exit(1)
    except ModuleNotFoundError as missing:
        _fail(f"looking at a network needs the package {missing.name}: pip install 'tesuji[train]'")
    except (ValueError, OSError) as refusal:
        _fail(refusal)


@app.command("curves")
def show_curves(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to; without it, RUN/curves.")] = None,
) -> None:
    """Draw the curves of a run: losses, entropy, rating, speed (PNG)."""
    from tesuji import curves
    from tesuji.run import Folder

    try:
        for path in curves.draw(Folder(run), out):
            print(path)
    except (ValueError, OSError) as refusal:
        _fail(refusal)


@app.command("export")
def export(
    source: Annotated[Path, typer.Argument(metavar="RUN|NET", help="A run's folder, or a .safetensors file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.onnx", help="The file to write.")],
    precision: Annotated[
        Literal["fp32", "fp16", "int8"], typer.Option(help="fp16: half the size; int8: computes in 8 bits too.")
    ] = "fp32",
) -> None:
    """Write a network as ONNX, to play with."""
    try:
        from tesuji import nets
        from tesuji.run import Folder

        path = Folder(source).newest_net() if source.is_dir() else source
        nets.export_onnx(nets.load(path), out, precision)
    except ModuleNotFoundError as missing:
        _fail(f"exporting needs the package {missing.name}: pip install 'tesuji[train]'")
    except (ValueError, OSError) as refusal:
        _fail(refusal)
    print(out)


@bench.command("rules")
def bench_rules(
    names: Annotated[list[str] | None, typer.Argument(metavar="[GAME]…", help="Only these.")] = None,
    seconds: Annotated[float, typer.Option(help="Seconds a game and side.")] = 1.0,
) -> None:
    """Random games a second of every game, beside OpenSpiel's C++ rollouts where it is installed."""
    _at_least("seconds", seconds, 0.01)
    for name in names or []:
        _game(name)
    head = ("game", "playouts/s", "plies", "ns/ply", "uniform/s", "OpenSpiel/s", "ratio", "of limit")
    print(f"{head[0]:15}" + "".join(f"{title:>12}" for title in head[1:]), flush=True)
    for name in names or tesuji.games():
        speed = benchmarks.bench_rules(name, seconds=seconds)
        cells = [
            f"{speed.playouts:,.0f}",
            f"{speed.plies:.1f}",
            f"{1e9 / speed.playouts / speed.plies:.1f}",
            f"{speed.uniform:,.0f}",
            f"{speed.openspiel:,.0f}" if speed.openspiel else "",
            f"{speed.ratio:.1f}×" if speed.ratio else "",
            f"{speed.share:.0%}" if speed.share else "",
        ]
        print(f"{name:15}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
    print("ratio: to OpenSpiel, both playing uniformly at random")
    print("of limit: of throw-away C++ for that game alone, scaled to this machine's speed at this moment")


@table.command("train")
def table_train(
    out: Annotated[str, typer.Option(metavar="FILE", help="The table; where it exists and is unfinished, go on.")],
    model: Annotated[str, typer.Option(help="free, or greedy: who can take a box does.")] = "greedy",
    games: Annotated[int | None, typer.Option(help="Games in all; the paper's number without it.")] = None,
    game: Annotated[str, typer.Option(help="Dots and Boxes of at most 24 edges.")] = "dots3-paper",
    threads: Annotated[int, typer.Option(help="With 1 the same seed gives the same table.")] = cores(),
    seed: Annotated[int, typer.Option(help="Another seed plays other games.")] = 0,
) -> None:
    """Train a table by self-play; Ctrl-C saves it."""
    from tesuji import table as tables

    try:
        tables.train_file(out, _game(game), model, games, threads=threads, seed=seed, say=_show_line)
    except KeyboardInterrupt:
        _show_line(f"stopped: the same command goes on with {out}", True)
        raise typer.Exit(130) from None
    except (ValueError, TypeError, OSError) as refusal:
        _fail(refusal)


@table.command("show")
def table_show(file: Annotated[str, typer.Argument(metavar="FILE")]) -> None:
    """Tell what a table is, and its wins and visits of each first move."""
    from tesuji import table as tables

    try:
        shown = tables.Table.load(file)
    except ValueError as refusal:
        _fail(refusal)
    moves = shown.first_moves()
    wins, visits = sum(m.wins for m in moves), sum(m.visits for m in moves)
    phases = ", then ".join(f"{games:,} with C = {c:g}" for games, c in shown.phases)
    states = int((shown.visits > 0).sum())
    print(f"{shown.game.title}: model {shown.model}, seed {shown.seed}")
    print(f"{shown.trained:,} of {shown.planned:,} games trained ({phases}); {shown.learned:,} learned from play")
    print(f"{states:,} of {len(shown.words):,} states reached")
    print(f"{'first move':>10}{'wins':>12}{'visits':>12}{'share':>8}")
    for m in moves:
        print(f"{m.move:>10}{m.wins:>12,}{m.visits:>12,}{f'{m.wins / max(1, m.visits):.2%}':>8}")
    print(f"{'all':>10}{wins:>12,}{visits:>12,}{f'{wins / max(1, visits):.2%}':>8}")


def _show_line(line: str, last: bool) -> None:
    """A line that the next one overwrites, unless it is the last; in a file, lines one after the other."""
    if sys.stdout.isatty():
        print(f"\r{line:<79}", end="\n" if last else "", flush=True)
    else:
        print(line, flush=True)


@bench.command("search")
def bench_search(
    names: Annotated[list[str] | None, typer.Argument(metavar="[GAME]…", help="Only these.")] = None,
    visits: Annotated[list[int] | None, typer.Option(help="Visits of a search; may be given several times.")] = None,
    seconds: Annotated[float, typer.Option(help="Seconds a game and side.")] = 1.0,
) -> None:
    """Simulations a second of mcts, beside OpenSpiel's MCTSBot with random rollouts where it is installed."""
    _at_least("seconds", seconds, 0.01)
    for count in visits or []:
        _at_least("visits", count, 1)
    for name in names or []:
        _game(name)
    head = ("visits", "simulations/s", "OpenSpiel/s", "ratio", "of limit", "bytes/node")
    print(f"{'game':15}" + "".join(f"{title:>14}" for title in head), flush=True)
    for name in names or ["ultimate", "gomoku8", "gomoku15", "nogo9", "dots3", "dots5", "go9", "go19"]:
        for count in visits or [1000, 10_000]:
            speed = benchmarks.bench_search(name, count, seconds=seconds)
            cells = [
                f"{speed.visits:,}",
                f"{speed.simulations:,.0f}",
                f"{speed.openspiel:,.0f}" if speed.openspiel else "",
                f"{speed.ratio:.1f}×" if speed.ratio else "",
                f"{speed.share:.0%}" if speed.share else "",
                f"{speed.bytes_a_node:.0f}",
            ]
            print(f"{name:15}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


@bench.command("selfplay")
def bench_selfplay(
    names: Annotated[list[str] | None, typer.Argument(metavar="[GAME]…", help="Only these.")] = None,
    net: Annotated[str, typer.Option(help="Size of the net: tiny, small (64×4), medium (64×6) or large.")] = "small",
    visits: Annotated[int, typer.Option(help="Visits of a search.")] = 32,
    games: Annotated[int, typer.Option(help="Games at once; 0: 64 a core on a CPU, 4096 on a GPU.")] = 0,
    lanes: Annotated[int, typer.Option(help="Batches in flight; 0: one a core on a CPU, 3 on a GPU.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads that grow trees; 0: all cores.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda (torch); auto: cuda where there is one.")] = "auto",
    kernel: Annotated[
        str, typer.Option(help="auto, fused (ours); onnx (ONNX Runtime) on a CPU; compiled or torch on a GPU.")
    ] = "auto",
    seconds: Annotated[float, typer.Option(help="Seconds a game, half of them for the net alone.")] = 10.0,
) -> None:
    """Evaluations a second of self-play with a net of random weights, beside the net alone."""
    _at_least("seconds", seconds, 0.1)
    _at_least("visits", visits, 2)
    for what, value in (("games", games), ("lanes", lanes), ("threads", threads)):
        _at_least(what, value, 0)
    for name in names or []:
        _game(name)
    try:
        from tesuji.evaluate import choose_device
        from tesuji.nets import preset

        size, device = preset(net), choose_device(device)
    except ImportError as missing:
        _fail(f"a net of random weights needs torch (there is no {missing.name}): pip install 'tesuji[train]'")
    except ValueError as refusal:
        _fail(refusal)
    threads = threads or cores()
    lanes = lanes or (threads if device == "cpu" else 3)
    games = games or (64 * threads if device == "cpu" else 4096)
    print(f"net {net}, {visits} visits, {games} games at once, {lanes} lanes, {threads} threads, {device}", flush=True)
    head = ("simulations/s", "evaluations/s", "net alone/s", "share", "growing", "waiting", "moves/s")
    print(f"{'game':15}" + "".join(f"{title:>15}" for title in head), flush=True)
    for name in names or ["ultimate", "gomoku8", "nogo9", "dots5", "go9"]:
        try:
            measure = benchmarks.bench_selfplay(
                name,
                net=size,
                visits=visits,
                games=games,
                lanes=lanes,
                threads=threads,
                device=device,
                kernel=kernel,  # type: ignore[arg-type]  # checked there
            )
        except ValueError as refusal:
            _fail(refusal)
        speed = measure(seconds)
        cells = [
            f"{speed.simulations:,.0f}",
            f"{speed.evaluations:,.0f}",
            f"{speed.raw:,.0f}",
            f"{speed.share:.0%}",
            f"{speed.growing:.0%}",
            f"{speed.waiting:.0%}",
            f"{speed.moves:,.0f}",
        ]
        print(f"{name:15}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
    print("share: of the net alone, in the same lanes; growing, waiting: of the time of the threads that drive them")


@bench.command("signature")
def bench_signature() -> None:
    """One integer of fixed searches in every game: a refactoring must not move it."""
    print(benchmarks.signature())


def main() -> None:
    """The `tesuji` command."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except Exception as refusal:
        # An unknown option or a word for a number: typer's refusals know how to say themselves.
        if not hasattr(refusal, "format_message"):
            raise
        print(f"tesuji: {refusal.format_message()}", file=sys.stderr)
        code = 2
    sys.exit(code)


if __name__ == "__main__":
    main()
