"""The nets that ship: they fit their games, are small, and play well."""

from pathlib import Path

import pytest

import tesuji
from tesuji.evaluate import shared_evaluator
from tesuji.netplayer import shipped

MODELS = Path(tesuji.__file__).parent / "models"
NETS = sorted(path.stem for path in MODELS.glob("*.onnx"))
GAMES = [name for name in NETS if not name.endswith("-fast")]


def test_the_games_that_were_promised_have_a_net() -> None:
    assert set(GAMES) == {"ultimate", "gomoku6x4", "gomoku8", "gomoku15", "nogo9", "dots3", "dots5", "go9"}
    assert set(NETS) - set(GAMES) == {"ultimate-fast"}


@pytest.mark.parametrize("net", NETS)
def test_a_net_fits_its_game_and_the_wheel(net: str) -> None:
    """Planes that have changed since it was trained would be refused here."""
    game = tesuji.game(net.removesuffix("-fast"))
    path = shipped(game, fast=net.endswith("-fast"))
    assert path.stem == net
    policy, value = shared_evaluator(path, game).answer([game.start()])
    assert policy.shape == (1, game.actions)
    assert -1 <= value[0] <= 1
    assert path.stat().st_size < 4_000_000


@pytest.mark.parametrize("name", NETS)
def test_a_nets_first_thought_beats_random_play(name: str) -> None:
    game = tesuji.game(name.removesuffix("-fast"))
    net = tesuji.player(f"net:{MODELS / name}.onnx,visits=1", game)
    for side in (0, 1):
        for seed in (1, 2):
            other, state = tesuji.player(f"random:seed={seed}", game), game.start()
            while state.result is None:
                state = state.play((net if state.to_play == side else other).think(state).action)
            assert state.result == (1 if side == 0 else -1)


@pytest.mark.parametrize(("name", "side"), [("dots3", 1), ("gomoku6x4", 0)])
def test_a_net_wins_what_is_won(name: str, side: int) -> None:
    """Second wins Dots and Boxes on 3×3, First four in a row on 6×6, whatever perfect play does against it."""
    game = tesuji.game(name)
    net, exact = tesuji.player("net:visits=200", game), tesuji.player("exact:seed=3", game)
    state = game.start()
    while state.result is None:
        state = state.play((net if state.to_play == side else exact).think(state).action)
    assert state.result == (1 if side == 0 else -1)


def test_who_has_a_clock_alone_has_the_fast_net() -> None:
    game = tesuji.game("ultimate")

    def priors(text: str) -> dict[str, float | None]:
        return {line.moves[0]: line.prior for line in tesuji.player(text, game).think(game.start()).lines}

    ordinary, fast = priors("net:visits=40"), priors("net:visits=40,fast=1")
    assert ordinary != fast
    assert priors("net:seconds=60,visits=40") == priors("net:seconds=0.1,fast=0") == ordinary
    assert priors("net:seconds=0.1,prior_temperature=1") == fast
    # With many visits, and so with PUCT, its favourites count for less.
    assert priors("net:seconds=0.1") == priors("net:visits=40,fast=1,rule=puct") != fast
    with pytest.raises(ValueError, match="no fast net ships for go9"):
        tesuji.player("net:fast=1", tesuji.game("go9"))
    with pytest.raises(ValueError, match="fast is 2: give 0 or 1"):
        tesuji.player("net:fast=2", game)


@pytest.mark.parametrize("name", NETS)
def test_every_net_has_a_card(name: str) -> None:
    docs = Path(__file__).parent.parent / "docs"
    assert f"| `{name}` |" in (docs / "models.md").read_text(encoding="utf-8")
    assert list((docs / "models").glob(f"{name}*.toml"))
