"""Curves of a run as pictures."""

from pathlib import Path
from typing import Any

from tesuji import config
from tesuji.run import Folder, ratings

__all__ = ["draw"]

_PICTURES = {
    "loss": (("loss", "policy_loss", "value_loss"), "nats"),
    "entropy": (("policy_entropy", "target_entropy"), "nats"),
    "throughput": (("evaluations_per_second", "samples_per_second"), "a second"),
    "games": (("length",), "plies a game"),
}


def draw(folder: Folder, out: Path | None = None) -> list[Path]:
    """Writes a PNG a picture into ``out`` (or the run's folder); returns their paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("curves need matplotlib: pip install 'tesuji[plots]'") from None

    folder.check()
    lines, measured = folder.metrics(), folder.arena()
    if not lines:
        raise ValueError(f"{folder.path} has no rounds yet: let it learn first")
    target = out or folder.path / "curves"
    target.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []

    def picture(name: str, unit: str, plot: Any) -> None:
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        plot(axes)
        axes.set_xlabel("minutes")
        axes.set_ylabel(unit)
        axes.grid(alpha=0.3)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend()
        made.append(target / f"{name}.png")
        figure.savefig(made[-1], dpi=120)

    for name, (keys, unit) in _PICTURES.items():

        def plot(axes: Any, keys: tuple[str, ...] = keys) -> None:
            for key in keys:
                points = [(line["minutes"], line[key]) for line in lines if line.get(key) is not None]
                if points:
                    axes.plot(*zip(*points, strict=True), label=key.replace("_", " "))

        picture(name, unit, plot)
    if measured:
        anchors = config.read(folder.config).run.anchors
        # All matches together rate every network anew: later ones tell of earlier nets too.
        found = ratings(measured, anchors[0] if anchors else None)

        def plot_ratings(axes: Any) -> None:
            rated = [(line["minutes"], found[line["net"]]) for line in measured if line["net"] in found]
            if rated:
                minutes, values = zip(*rated, strict=True)
                axes.errorbar(minutes, [r.elo for r in values], [r.error for r in values], capsize=3, label="network")
            for name, rating in found.items():
                if isinstance(name, str):
                    axes.axhline(rating.elo, linestyle=":", label=name)

        picture("rating", f"Elo ({anchors[0]} is 0)" if anchors else "Elo", plot_ratings)
    return made
