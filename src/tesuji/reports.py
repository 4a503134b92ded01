"""Matches and tournaments for people: as text for a terminal, and as one HTML file that needs nothing else."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from tesuji.arena import Match, Tournament
from tesuji.ratings import Estimate
from tesuji.records import GameRecord

__all__ = [
    "elo_text",
    "html_table",
    "match_html",
    "match_text",
    "page",
    "tournament_html",
    "tournament_text",
]

_POINTS = ("0–2", "½–1½", "1–1", "1½–½", "2–0")


def elo_text(found: Estimate) -> str:
    """Such as "+191 ± 35 (95 %: +157 to +228)", or the bound where one side won everything."""
    if math.isinf(found.low) and math.isinf(found.high):
        return "unknown: no pair of games is complete"
    if math.isinf(found.high):
        return f"more than {found.low:+.0f} (95 %): A won everything"
    if math.isinf(found.low):
        return f"less than {found.high:+.0f} (95 %): B won everything"
    return f"{found.elo:+.0f} ± {found.error:.0f} (95 %: {found.low:+.0f} to {found.high:+.0f})"


def match_text(played: Match) -> str:
    """All figures of a match."""
    lines = [f"A  {played.players[0]}", f"B  {played.players[1]}", ""]
    rows = _sides_table(played)
    lines += [f"{'':10}{'wins':>7}{'draws':>7}{'losses':>8}{'score':>9}"]
    lines += [f"{row[0]:10}{row[1]:>7}{row[2]:>7}{row[3]:>8}{row[4]:>9}" for row in rows]
    lines += ["", *(f"{key:15}{value}" for key, value in _facts(played))]
    return "\n".join(lines) + "\n"


def tournament_text(played: Tournament) -> str:
    """Ratings and the crosstable."""
    order = played.ranking()
    lines = [f"{'':4}{'Elo':>7}{'±':>6}{'points':>9}{'games':>7}{'s/move':>9}  player"]
    lines += [f"{r[0]:4}{r[1]:>7}{r[2]:>6}{r[3]:>9}{r[4]:>7}{r[5]:>9}  {r[6]}" for r in _ratings_table(played)]
    lines += ["", "wins–draws–losses of the row against the column", " " * 4 + "".join(f"{x:>11}" for x in order)]
    lines += [f"{row[0]:4}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in _crosstable(played)]
    lines += ["", *(f"{key:15}{value}" for key, value in _common_facts(played))]
    return "\n".join(lines) + "\n"


# ── What both forms show ──


def _sides_table(played: Match) -> list[tuple[str, ...]]:
    rows = [("as First", played.as_first), ("as Second", played.as_second)]
    rows.append(("all", (played.wins, played.draws, played.losses)))
    return [(name, *map(str, row), _share(row[0] + row[1] / 2, sum(row))) for name, row in rows]


def _share(points: float, games: int) -> str:
    return f"{points / games:.1%}" if games else "–"


def _facts(played: Match) -> list[tuple[str, str]]:
    facts = [("Elo, A − B", elo_text(played.estimate))]
    counted = ", ".join(f"{count} × {name}" for name, count in zip(_POINTS, played.pairs, strict=True) if count)
    facts.append(("pairs, A–B", counted or "none"))
    if (test := played.sprt) is not None:
        said = {
            "accepted": f"accepted: A is stronger by {test.elo1:g} rather than by {test.elo0:g}",
            "rejected": f"rejected: A is stronger by {test.elo0:g} rather than by {test.elo1:g}",
            "undecided": "undecided",
        }[test.verdict]
        facts.append(("SPRT", f"{said} Elo (ratio {test.llr:+.2f}, bounds ±{test.bound:.2f})"))
    for label in played.labels:
        seconds, visits = played.pace[label]
        facts.append((f"{label}, a move", f"{seconds:.4f} s" + (f", {visits:,.0f} visits" if visits else "")))
    return facts + _common_facts(played)


def _common_facts(played: Match | Tournament) -> list[tuple[str, str]]:
    facts = [("length", f"{played.length:.1f} plies a game")]
    for reason, count in list(played.forfeits.items())[:10]:
        facts.append(("not played out", f"{count} × {reason}"))
    if played.repeats:
        facts.append(
            ("repeats", f"{played.repeats} of {len(played.games)} games went as an earlier one: errors are larger")
        )
    return facts


def _ratings_table(played: Tournament) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    ratings = dict(zip(played.labels, played.ratings, strict=True))
    texts = dict(zip(played.labels, played.players, strict=True))
    for label in played.ranking():
        points = sum(played.score_against(label, other) for other in played.labels)
        games = sum(label in (r.first, r.second) for r in played.games)
        elo, error = f"{ratings[label].elo:+.0f}", f"{ratings[label].error:.0f}"
        rows.append((label, elo, error, f"{points:g}", str(games), f"{played.pace[label][0]:.4f}", texts[label]))
    return rows


def _crosstable(played: Tournament) -> list[tuple[str, ...]]:
    order = played.ranking()
    cells = {(a, b): "–".join(map(str, played.points(a, b))) if a != b else "·" for a in order for b in order}
    return [(a, *(cells[a, b] for b in order)) for a in order]


# ── HTML ──

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { font-weight: 600; } .text { text-align: left; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } summary { cursor: pointer; } code { font-size: .9em; }
tbody tr:hover { background: var(--soft); } img { max-width: 100%; background: #fff; }
"""


def match_html(played: Match) -> str:
    """A page about a match."""
    body = _list([(label, text) for label, text in zip(played.labels, played.players, strict=True)])
    body += html_table(("", "wins", "draws", "losses", "score"), _sides_table(played), text={0})
    body += _list(_facts(played)) + _games(played.games)
    return page(f"{played.game.title}: a match of {len(played.games)} games", body)


def tournament_html(played: Tournament) -> str:
    """A page about a tournament."""
    heads = ("", "Elo", "±", "points", "games", "s/move", "player")
    body = html_table(heads, _ratings_table(played), text={0, 6})
    body += "<p>Wins–draws–losses of the row against the column:</p>"
    body += html_table(("", *played.ranking()), _crosstable(played), text={0})
    body += _list(_common_facts(played)) + _games(played.games)
    return page(f"{played.game.title}: a tournament of {len(played.players)} players", body)


def page(title: str, body: str) -> str:
    """A whole file with that body."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    head = f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n'
    return f"{head}<body><h1>{escape(title)}</h1>\n{body}</body></html>\n"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, text: set[int]) -> str:
    """``text``: the columns of words, which stand to the left."""

    def line(tag: str, cells: Sequence[str]) -> str:
        marks = [' class="text"' if number in text else "" for number in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{m}>{escape(c)}</{tag}>" for m, c in zip(marks, cells, strict=True)) + "</tr>\n"

    lines = "".join(line("td", row) for row in rows)
    return f'<div class="wide"><table><thead>{line("th", heads)}</thead><tbody>\n{lines}</tbody></table></div>\n'


def _list(facts: Iterable[tuple[str, str]]) -> str:
    return html_table(("", ""), facts, text={0, 1}).replace(f"<thead>{_EMPTY}</thead>", "")


_EMPTY = '<tr><th class="text"></th><th class="text"></th></tr>\n'


def _games(records: Sequence[GameRecord]) -> str:
    rows = [
        (
            str(record.number),
            record.first,
            record.winner or "drawn",
            str(len(record.opening) + len(record.moves)),
            record.reason,
            f"{' '.join(record.opening)} | {' '.join(record.moves)}",
        )
        for record in records
    ]
    heads = ("game", "First", "winner", "plies", "end", "opening | moves")
    return f"<details><summary>All games</summary>\n{html_table(heads, rows, text={4, 5})}</details>\n"
