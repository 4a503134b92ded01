"""The documentation is true: its tables, examples, quotations and links."""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tesuji

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ADDING = DOCS / "adding-a-game.md"
GAME_PAGES = sorted((DOCS / "games").glob("*.md"))
STUDY_PAGES = sorted((DOCS / "studies").glob("*.md"))
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted(DOCS.glob("*.md")), *GAME_PAGES, *STUDY_PAGES]

# Where a page lists the planes of an encoding.
PLANES = {"tesuji": "Planes", "paper": "Planes of the paper", "boards": "Planes of small boards"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)
every_game_page = pytest.mark.parametrize("page", GAME_PAGES, ids=name_of)


# ── Reading a page ──


@dataclass
class Block:
    """What stands between two fences."""

    language: str
    line: int  # of the opening fence, from 1
    text: str = ""
    follows: bool = False  # nothing but blank lines between this and the block before


@dataclass
class Table:
    heading: str  # of its section
    rows: list[dict[str, str]]  # a cell a column; marks of code taken off


def read(page: Path) -> tuple[list[Block], list[tuple[str, str]]]:
    """The fenced blocks of a page; and its other lines, each with the heading above it."""
    blocks: list[Block] = []
    lines: list[tuple[str, str]] = []
    heading, inside, apart = "", False, True
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        if line.startswith("```"):
            if not inside:
                blocks.append(Block(line.strip("`\n"), number, follows=not apart))
            inside, apart = not inside, False
        elif inside:
            blocks[-1].text += line
        else:
            apart = apart or bool(line.strip())
            if line.startswith("#"):
                heading = line.strip("# \n")
            lines.append((heading, line.rstrip("\n")))
    assert not inside, f"{name_of(page)}: a fence is left open"
    return blocks, lines


def tables(page: Path) -> Iterator[Table]:
    columns: list[str] = []
    table: Table | None = None
    for heading, line in [*read(page)[1], ("", "")]:
        if not line.startswith("|"):
            if table is not None:
                yield table
            columns, table = [], None
            continue
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if table is None:
            columns, table = cells, Table(heading, [])
        elif not all(re.fullmatch(":?-+:?", cell) for cell in cells):
            table.rows.append(dict(zip(columns, cells, strict=True)))


def rows(page: Path, heading: str, column: str) -> list[dict[str, str]]:
    """The rows of the tables of a section that have such a column."""
    return [row for table in tables(page) if table.heading == heading for row in table.rows if column in row]


def games_of(page: Path) -> list[tesuji.Game]:
    return [tesuji.game(row["name"]) for row in rows(page, "Specs", "name")]


# ── A page a family of games ──


def test_every_game_is_on_one_page() -> None:
    assert sorted(game.name for page in GAME_PAGES for game in games_of(page)) == sorted(tesuji.games())


@every_game_page
def test_specs(page: Path) -> None:
    for row in rows(page, "Specs", "name"):
        game = tesuji.game(row["name"])
        told = {column: row[column] for column in ("grid", "actions", "longest game", "symmetries")}
        assert told == {
            "grid": f"{game.rows}×{game.cols}",
            "actions": str(game.actions),
            "longest game": str(game.max_plies),
            "symmetries": str(game.symmetries),
        }, game.name


@every_game_page
def test_planes(page: Path) -> None:
    for game in games_of(page):
        assert set(game.encodings) <= set(PLANES)
        for encoding, heading in PLANES.items():
            names = game.plane_names(encoding) if encoding in game.encodings else []
            listed = [(row["plane"], row["name"]) for row in rows(page, heading, "plane")]
            assert listed == [(str(number), name) for number, name in enumerate(names)], game.name


@every_game_page
def test_rule_numbers(page: Path) -> None:
    for game in games_of(page):
        assert [row["number"] for row in rows(page, "Rule numbers", "number")] == list(game.numbers), game.name


@every_game_page
def test_counts(page: Path) -> None:
    """A column a depth; cells may be left blank."""
    counts = [
        (row["game"], int(depth), int(count))
        for row in rows(page, "Counts and known results", "game")
        for depth, count in row.items()
        if depth != "game" and count
    ]
    assert counts
    for name, depth, count in counts:
        assert tesuji.game(name).perft(depth) == count, f"{name} at depth {depth}"


@every_game_page
def test_a_game_page_ends_with_a_summary_in_chinese(page: Path) -> None:
    heading, last = read(page)[1][-1]
    assert heading == "中文"
    assert last


# ── Examples, links, quotations ──


@every_page
def test_examples(page: Path) -> None:
    """The blocks of a page run one after the other, as in one session, and print what the block after them shows."""
    names: dict[str, object] = {"__name__": "example"}
    printed: str | None = None
    for block in read(page)[0]:
        if block.language == "python":
            code = compile("\n" * block.line + block.text, name_of(page), "exec")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(code, names)
            printed = output.getvalue()
        elif block.language == "text" and block.follows and printed is not None:
            assert printed == block.text, f"{name_of(page)}, line {block.line}"
            printed = None
        else:
            printed = None


def links(page: Path) -> list[Path]:
    """The files that a page links to."""
    found = [target for _, line in read(page)[1] for target in re.findall(r"\]\(([^)#\s]+)", line)]
    return [(page.parent / target).resolve() for target in found if ":" not in target]


@every_page
def test_links(page: Path) -> None:
    assert [str(target) for target in links(page) if not target.exists()] == []


def test_the_index_has_every_page() -> None:
    index = DOCS / "README.md"
    assert set(links(index)) >= {page.resolve() for page in DOCS.rglob("*.md") if page != index}


def stripped(text: str) -> str:
    """A text without indentation."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def test_quoted_code_is_the_examples() -> None:
    example = stripped((ROOT / "examples/connect_four.hpp").read_text(encoding="utf-8"))
    quotations = [block for block in read(ADDING)[0] if block.language == "cpp"]
    assert quotations
    assert [block.text for block in quotations if stripped(block.text) not in example] == []


def test_the_laws_are_those_of_the_core() -> None:
    """The list has the very sentences of the checker, and so has the table of mistakes."""
    core = (ROOT / "cpp/core/laws.cpp").read_text(encoding="utf-8")
    listed = [line[2:] for heading, line in read(ADDING)[1] if heading == "The laws" and line.startswith("- ")]
    told = [row["what check-game says"] for row in rows(ADDING, "Common mistakes", "what check-game says")]
    assert [law for law in listed if f'"{law}"' not in core] == []
    assert set(told) <= set(listed)
    # `law(condition, "sentence");` is how the core says it.
    assert set(re.findall(r'\blaw\([^"]*"([^"]+)"\);', core)) <= set(listed)
