"""The command line. Bad input is answered with one sentence and exit code 2."""

import sys
from typing import Annotated, NoReturn

import typer

import tesuji
from tesuji import bench as benchmarks
from tesuji import terminal
from tesuji.playthrough import playthrough as transcript

app = typer.Typer(
    name="tesuji", help="Learns board games by playing itself, and plays them with you.", add_completion=False
)
bench = typer.Typer(help="Measure speed.")
app.add_typer(bench, name="bench")

GameName = Annotated[
    str, typer.Argument(metavar="GAME", help="A game, such as go9 or go9:komi=5.5; `tesuji games` lists them.")
]


def _fail(sentence: object) -> NoReturn:
    print(f"tesuji: {sentence}", file=sys.stderr)
    raise typer.Exit(2)


def _game(text: str) -> tesuji.Game:
    try:
        return tesuji.game(text)
    except (ValueError, TypeError) as refusal:
        _fail(refusal)


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
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game; without it you are asked.")] = None,
    opponent: Annotated[
        str, typer.Option(help="A player such as random or flat:playouts=5000, or human.")
    ] = "flat:playouts=4000",
    second: Annotated[bool, typer.Option("--second", help="You move second.")] = False,
) -> None:
    """Play against the program, here in the terminal."""
    try:
        g = _game(name) if name is not None else _ask_game()
        them = None if opponent == "human" else _player(opponent, g)
        terminal.play(g, them, int(second), input, print)
    except (EOFError, KeyboardInterrupt):
        print()


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
