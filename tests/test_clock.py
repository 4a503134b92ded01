"""Time: what an engine may use of it."""

import pytest

import tesuji
from tesuji.protocols.clock import LAG, Clock, TimeControl

START = tesuji.game("go9").start()


def budget(clock: Clock, state: tesuji.State = START) -> float:
    found = clock.budget(state)
    assert found is not None
    return found


def test_without_a_control_there_is_no_limit() -> None:
    assert Clock().budget(START) is None


def test_a_game_never_outlives_its_main_time() -> None:
    clock = Clock(TimeControl(main=60))
    state, spent = tesuji.game("go9").start(), 0.0
    for seed in range(120):  # 60 moves of each side, each with all of its budget and the lag
        if state.result is not None:
            break
        if state.to_play == 0:
            used = budget(clock, state) + LAG / 2
            spent += used
            clock.spend(0, used)
        legal = [a for a in state.legal() if state.game.text(a) != "pass"] or state.legal()
        state = state.play(legal[(seed * 37) % len(legal)])
    assert 30 < spent < 60
    assert budget(Clock(TimeControl(main=60))) < 4


def test_byo_yomi() -> None:
    canadian = Clock(TimeControl(main=10, period=30, stones=5))
    assert budget(canadian) < 10 / 6 + 6
    canadian.spend(0, 11)  # one second of the first period
    assert 5 < budget(canadian) <= 29 / 4
    canadian.tell(0, 3, 1)
    assert 2 < budget(canadian) < 3
    canadian.spend(0, 2)  # the period's last stone: the next period begins
    assert 5 < budget(canadian) < 6
    japanese = Clock(TimeControl(period=10, stones=1, periods=3))
    assert 9 < budget(japanese) < 10
    japanese.spend(0, 12)  # a period is lost, the next is whole
    assert 9 < budget(japanese) < 10
    japanese.tell(0, 4, 1)
    assert 3 < budget(japanese) < 4


def test_increments_turns_and_what_is_told() -> None:
    assert budget(Clock(TimeControl(main=1, increment=2))) > 1.5 or budget(Clock(TimeControl(main=1, increment=2))) < 1
    assert budget(Clock(TimeControl(main=1000, turn=5))) == pytest.approx(4.75)
    clock = Clock(TimeControl(main=100))
    clock.tell(0, 0.0)
    assert budget(clock) < 0.05
    clock.tell(1, 50)
    assert budget(clock) < 0.05  # that was the other side's
    clock.reset()
    assert budget(clock) > 1
    clock.tell(0, -5)
    assert 0 < budget(clock) < 0.05


def test_it_counts_for_itself() -> None:
    clock = Clock(TimeControl(main=100))
    before = budget(clock)
    clock.start()
    clock.stop(0)
    assert before - 0.1 < budget(clock) <= before


@pytest.mark.parametrize("wrong", [{"main": -1}, {"main": float("nan")}, {"stones": -3}, {"turn": 1e30}])
def test_what_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give"):
        TimeControl(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="what is left"):
        Clock().tell(0, float("nan"))
