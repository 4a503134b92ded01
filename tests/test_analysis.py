"""Analysis: one tree that grows as far as it is asked to."""

import os
from pathlib import Path

import numpy as np
import pytest
from networks import lively

import tesuji
from tesuji.analysis import Analysis, best_classical, best_player
from tesuji.evaluate import TorchEvaluator, evaluator, shared_evaluator
from tesuji.netplayer import has_net
from tesuji.nets import onnx_bytes


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net for go5, as it would ship."""
    path = tmp_path_factory.mktemp("nets") / "go5.onnx"
    path.write_bytes(onnx_bytes(lively(tesuji.game("go5")), "fp32"))
    return path


@pytest.mark.parametrize("guided", [False, True])
def test_a_tree_goes_on_where_it_was(net: Path, guided: bool) -> None:
    game = tesuji.game("go5")
    text = f"net:{net}" if guided else "mcts"
    analysis = Analysis(game, text, seed=3)
    assert analysis.guided is guided
    state = game.replay("c3 b2")
    analysis.look(state)
    first = analysis.grow(visits=64)
    assert 64 <= analysis.visits < 64 + 8
    second = analysis.grow(visits=100)
    assert analysis.visits >= 164
    assert all(second.visits[action] >= seen for action, seen in first.visits.items())
    analysis.look(state)  # the same position: nothing is lost
    assert analysis.visits >= 164
    reply = state.play(second.action)
    analysis.look(reply)
    assert analysis.visits == second.visits[second.action] or analysis.visits == second.visits[second.action] - 1
    analysis.look(game.start())
    assert analysis.visits == 0


def test_in_steps_it_finds_what_it_finds_at_once() -> None:
    game = tesuji.game("gomoku8")
    steps, once = (Analysis(game, "mcts", seed=5) for _ in range(2))
    for _ in range(10):
        thought = steps.grow(visits=50)
    assert thought.visits == once.grow(visits=500).visits


def test_seconds_end_it_and_a_proof_ends_it_for_good() -> None:
    game = tesuji.game("gomoku6x4")
    analysis = Analysis(game, "mcts")
    assert analysis.grow(seconds=0.05).seconds < 5
    assert not analysis.finished
    analysis.look(game.replay("c3 a6 d3 c6 e3 e6"))
    thought = analysis.grow(visits=100_000)
    assert thought.proven == 1
    assert analysis.finished
    seen = analysis.visits
    assert analysis.grow(seconds=60).proven == 1
    assert analysis.visits == seen


def test_a_full_memory_ends_it() -> None:
    analysis = Analysis(tesuji.game("go9"), "mcts", memory=1 << 17)
    analysis.grow(visits=100_000)
    assert analysis.finished
    assert analysis.grow(visits=10).stop == "full"


def test_ownership_of_the_net_belongs_to_first(net: Path) -> None:
    game = tesuji.game("go5")
    analysis = Analysis(game, f"net:{net}")
    asked = evaluator(net, game)
    for moves, side in (("", 1), ("c3", -1)):
        state = game.replay(moves)
        analysis.look(state)
        owners, said = analysis.ownership(), asked.ownership(state)
        assert owners is not None
        assert said is not None
        assert owners.shape == (5, 5)
        assert np.allclose(owners, side * said)
        assert np.ptp(owners) > 0.01


def test_both_evaluators_know_the_same_owners(net: Path) -> None:
    game = tesuji.game("go5")
    state = game.replay("c3 b2 d4")
    torch = TorchEvaluator(lively(game), game, device="cpu").ownership(state)
    assert torch is not None
    assert np.allclose(torch, evaluator(net, game).ownership(state), atol=1e-5)
    ownerless = TorchEvaluator(lively(tesuji.game("gomoku8")), device="cpu")
    assert ownerless.ownership(tesuji.game("gomoku8").start()) is None


def test_a_file_is_opened_once_for_all(net: Path, tmp_path: Path) -> None:
    game = tesuji.game("go5")
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(net.read_bytes())
    first = shared_evaluator(copy, game)
    assert shared_evaluator(copy, tesuji.game("go5", komi=3)) is first
    os.utime(copy, (1, 1))  # another file by now
    assert shared_evaluator(copy, game) is not first
    with pytest.raises(ValueError, match="cannot be read"):
        shared_evaluator(tmp_path / "none.onnx", game)


def test_ownership_without_a_net_comes_from_random_games() -> None:
    analysis = Analysis(tesuji.game("go5"), "mcts")
    # First has the left three columns, walled off: the far left is his.
    analysis.look(tesuji.game("go5").replay("c1 d1 c2 d2 c3 d3 c4 d4 c5 d5 b1 pass b3"))
    owners = analysis.ownership()
    assert owners is not None
    assert owners[:, 0].min() > 0.5 > -0.5 > owners[:, 4].max()
    assert Analysis(tesuji.game("gomoku8"), "mcts").ownership() is None
    ended = tesuji.game("dots2").random(1)
    analysis = Analysis(ended.game, "mcts")
    analysis.look(ended)
    assert np.array_equal(analysis.ownership(), ended.ownership())
    boxes = Analysis(tesuji.game("dots2"), "mcts").ownership()
    assert boxes is not None
    assert not boxes[tesuji.game("dots2").ownable() == 0].any()


def test_what_cannot_be_is_refused() -> None:
    game = tesuji.game("go5")
    with pytest.raises(ValueError, match="alphabeta has none"):
        Analysis(game, "alphabeta:depth=3")
    with pytest.raises(ValueError, match="give visits or seconds"):
        Analysis(game, "mcts").grow()
    with pytest.raises(ValueError, match="visits is 0"):
        Analysis(game, "mcts").grow(visits=0)
    with pytest.raises(ValueError, match="seconds is nan"):
        Analysis(game, "mcts").grow(seconds=float("nan"))
    with pytest.raises(ValueError, match="not of"):
        Analysis(game, "mcts").look(tesuji.game("go5", komi=1).start())
    ended = Analysis(game, "mcts")
    ended.look(game.replay("pass pass"))
    with pytest.raises(ValueError, match="the game is over"):
        ended.grow(visits=1)


@pytest.mark.parametrize("name", tesuji.games())
def test_every_game_has_a_best_player(name: str) -> None:
    game = tesuji.game(name)
    text = best_classical(game)
    player = tesuji.player(text, game)
    legal = game.random(1, plies=2)
    if legal.result is None and "seconds" not in text:
        assert player.think(legal).action in legal.legal()
    assert best_player(game) in ("net", text)


def test_a_net_is_the_best_player_unless_there_is_a_perfect_one() -> None:
    assert {name: best_player(tesuji.game(name)) for name in ("go9", "ultimate", "dots3", "dots4", "go13")} == {
        "go9": "net",
        "ultimate": "net",
        "dots3": "exact",
        "dots4": "alphabeta:seconds=1",
        "go13": "mcts:seconds=1",
    }
    assert has_net(tesuji.game("dots3"))
