"""The player ``net`` and the exact solvers that it asks before its search, and after it."""

from pathlib import Path

import pytest
import torch
from networks import lively

import tesuji
from tesuji import _core
from tesuji.nets import export_onnx, save


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nets that have opinions, and know nothing."""
    folder = tmp_path_factory.mktemp("nets")
    for name in ("gomoku8", "ultimate"):
        save(lively(tesuji.game(name)), folder / f"{name}.safetensors")
    return folder


def test_it_plays_what_a_solver_knows() -> None:
    game = tesuji.game("dots5")
    player = tesuji.player("net:visits=50", game)
    for seed in range(6):
        state = game.random(seed, 32)
        thought, whole = player.think(state), tesuji.solve(state)
        assert thought.proven == whole.result == tesuji.solve(state.play(thought.action)).result
        assert sum(thought.visits.values()) == len(thought.lines)  # nothing was searched


def test_of_drawn_moves_it_plays_one_that_keeps_the_draw(nets: Path) -> None:
    game = tesuji.game("ultimate")
    player = tesuji.player(f"net:{nets}/ultimate.safetensors,visits=100", game)
    drawn = 0
    for seed in range(60):
        state = game.random(seed, 52)
        if state.result is not None or (whole := tesuji.solve(state)).result != 0:
            continue
        if len(whole.best) == len(state.legal()):
            continue
        thought = player.think(state)
        if thought.proven is not None:  # it may spend less than this test
            drawn += 1
            assert (thought.proven, thought.move in whole.best) == (0, True)
    assert drawn >= 3


def test_it_doubts_a_move_that_a_solver_refutes(nets: Path) -> None:
    game, side = tesuji.game("gomoku8"), (-1, 1)
    settings = f"net:{nets}/gomoku8.safetensors,visits=16,candidates=0"
    players = [tesuji.player(f"{settings},solve={solves}", game, seed=1) for solves in (0, 1)]
    lost, checked = [0, 0], 0
    for seed in range(40):
        state = game.random(seed, 10)
        if state.result is not None or _core.settle(state, 20_000) is not None:
            continue
        checked += 1
        for solves, player in enumerate(players):
            after = state.play(player.think(state).action)
            lost[solves] += _core.settle(after, 16 * 128) == side[state.to_play]
    assert checked > 10
    assert lost[0] > 3
    assert lost[1] == 0


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_a_net_that_answers_no_numbers_is_refused(rule: str, tmp_path: Path) -> None:
    game = tesuji.game("ultimate")
    for name, wrong in (("mosaic", float("nan")), ("tiny", 1e38)):
        net = lively(game, name)
        with torch.no_grad():
            net.body.value.weight.fill_(wrong)
        export_onnx(net, tmp_path / f"{name}.onnx")
        with pytest.raises(ValueError, match=r"what is no number \(NaN or infinite\)"):
            tesuji.player(f"net:{tmp_path}/{name}.onnx,visits=20,rule={rule}", game).think(game.start())


def test_who_means_to_err_asks_nobody() -> None:
    game = tesuji.game("dots5")
    state = game.random(2, 30)
    assert tesuji.solve(state).result is not None
    asked = tesuji.player("net:visits=400", game).think(state)
    assert asked.proven is not None
    for options in ("visits=8,solve=0", "visits=8,temperature=1"):
        assert tesuji.player(f"net:{options}", game).think(state).proven is None
    with pytest.raises(ValueError, match="solve is -1: give a number from 0"):
        tesuji.player("net:solve=-1", game)


def test_the_fast_net_puts_a_price_on_draws_and_others_do_not() -> None:
    """Where nobody says otherwise; and who cannot know how likely a draw is says so."""
    game = tesuji.game("ultimate")
    state = game.random(3, 12)
    value = {
        text: tesuji.player(f"net:visits=30,{text}", game).think(state).value
        for text in ("fast=1", "fast=1,draw=-0.7", "fast=1,draw=0", "fast=0", "fast=0,draw=0", "fast=0,draw=-0.7")
    }
    assert value["fast=1"] == value["fast=1,draw=-0.7"] != value["fast=1,draw=0"]
    assert value["fast=0"] == value["fast=0,draw=0"] != value["fast=0,draw=-0.7"]
    tesuji.player("net:visits=2,fast=1,threads=2", game).think(state)
    for text in ("average=1", "threads=2"):
        with pytest.raises(ValueError, match="draw needs a net that says how likely one is: on the CPU, without thr"):
            tesuji.player(f"net:visits=30,draw=-0.5,{text}", game)
    with pytest.raises(ValueError, match="draw"):
        tesuji.player("net:visits=30,draw=-2", game)


def test_it_does_not_pass_into_a_loss() -> None:
    game = tesuji.game("go9")
    # Second passed, with many dead stones on the board: they count until they are taken.
    state = game.replay(
        "f6 j8 d4 d1 f3 j9 d6 a5 g7 h8 g8 b1 g4 f2 g2 c1 c7 g3 h3 b2 "
        "c3 f8 e2 g9 e8 h5 f7 b9 f9 d5 c5 a4 b3 c2 d2 a9 e1 pass"
    )
    assert state.play("pass").result == -1
    assert tesuji.player("net:visits=1", game).think(state).move != "pass"
