"""The hope that a check is overlooked."""

from gm_bots.unseen import Unseen


def test_each_check_that_was_answered_leaves_less_hope() -> None:
    hope = Unseen(0.12)
    hope.turn(wins=False)
    hope.moves(checks=True)
    hope.turn(wins=False)
    assert hope.probability == 0.06
    hope.moves(checks=False)
    hope.turn(wins=False)
    assert hope.probability == 0.06, "a move without a check tells nothing"
    hope.moves(checks=True)
    hope.turn(wins=True)
    assert hope.probability == 0.06, "it was not answered"
