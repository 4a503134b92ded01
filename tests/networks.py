"""Nets and batches for tests."""

from types import SimpleNamespace

import numpy as np
import torch

import tesuji
from tesuji.nets import Net, named

torch.set_num_threads(1)


def lively(game: tesuji.Game, name: str = "tiny", seed: int = 1, **changes: object) -> Net:
    """A net with opinions: weights and norms moved away from where they start."""
    torch.manual_seed(seed)
    net = named(game, name, **changes)
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.requires_grad:
                parameter += 0.1 * torch.randn_like(parameter)
        net.train()
        for _ in range(3):
            net(3 * torch.rand(8, net.planes, game.rows, game.cols))
    return net.eval()


def states_of(game: tesuji.Game, count: int) -> list[tesuji.State]:
    """Positions of random games, some at their ends."""
    return [game.random(seed, plies=seed * game.actions // count) for seed in range(count)]


def batch_of(net: Net, count: int, seed: int = 0) -> SimpleNamespace:
    """Positions with targets drawn at random."""
    game, random = net.game, np.random.default_rng(seed)
    policy = random.random((count, game.actions), np.float32) ** 20
    return SimpleNamespace(
        planes=np.stack([state.packed(net.encoding) for state in states_of(game, count)]),
        policy=(policy / policy.sum(1, keepdims=True)).astype(np.float32),
        wdl=np.eye(3, dtype=np.float32)[random.integers(0, 3, count)],
        ownership=random.integers(-1, 2, (count, game.rows * game.cols)).astype(np.int8),
        aux_weight=(random.random(count) < 0.8).astype(np.float32),
        score=random.normal(0, 5, count).astype(np.float32),
    )
