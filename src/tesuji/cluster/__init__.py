"""Learning, matches and studies on many machines. This package alone knows Ray.

``connection`` is the way to a cluster, ``learning`` lets workers there play what a run learns from, ``matches`` lets
them play a match's games. A study is both of these.
"""

import functools
from collections.abc import Sequence
from pathlib import Path

from tesuji.cluster.connection import connected
from tesuji.cluster.learning import Kind, cpus_of, learn
from tesuji.cluster.matches import match

__all__ = ["Kind", "connected", "learn", "match", "study"]


def study(
    name: str,
    folder: str | Path,
    *,
    address: str | None = None,
    kinds: Sequence[Kind] = (Kind(),),
    workers: int | None = None,
    scale: float | None = None,
    seed: int | None = None,
) -> Path:
    """As ``studies.carry_out``, with its self-play by workers of these kinds on the cluster at ``address``, and its
    matches there too, ``workers`` games at once; None: one a CPU. What measures this machine stays here.
    """
    from tesuji import studies

    cpus = max(cpus_of(kinds), workers or 0)
    lab = studies.Lab(
        studies.study(name),
        Path(folder),
        scale=scale,
        seed=seed,
        learn=functools.partial(learn, kinds=kinds),
        match=functools.partial(match, workers=workers),
    )
    with connected(address, cpus=cpus), lab.locked():
        return lab.carry_out()
