"""The laws of games, checked by the core itself. That the laws see faults is tested in ``cpp/tests``."""

import pytest

import tesuji


@pytest.mark.parametrize("name", tesuji.games())
def test_every_game_obeys_the_laws(name: str) -> None:
    assert tesuji.game(name).broken_laws(40, seed=7) == []
