"""The five studies: each paper's experiment with its own settings, then the same with our recipe, by one command.

A study is a list of steps and a report. A step measures something with the library (a run, a match, a table, a search)
and leaves its raw numbers in one file; a step that is done is not done again. The report sets the paper's numbers and
ours side by side. ``lab`` has all that the studies have in common, ``words`` their headings in English and Chinese, and
each study's module its settings, steps, tables and figures.
"""

import difflib
import importlib
from pathlib import Path

from tesuji.studies.lab import Lab, Study

__all__ = ["NAMES", "Lab", "Study", "carry_out", "study"]

NAMES = ("ultimate", "gomoku", "nogo", "dots", "go")


def study(name: str) -> Study:
    """The study of that name."""
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        raise ValueError(
            f"there is no study {name[:30]!r}: " + (f"did you mean {near[0]}?" if near else f"there are {_LIST}")
        )
    found: Study = importlib.import_module(f"tesuji.studies.{name}").STUDY
    return found


_LIST = ", ".join(NAMES)


def carry_out(name: str, folder: str | Path, *, scale: float | None = None, seed: int | None = None) -> Path:
    """Does a study in a folder, or goes on with it; the path of its report.

    ``scale``: a fraction of the paper's games; without it what the folder says, or the study's own.
    """
    lab = Lab(study(name), Path(folder), scale=scale, seed=seed)
    with lab.locked():
        return lab.carry_out()
