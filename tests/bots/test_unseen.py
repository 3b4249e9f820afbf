"""The hope that a check is overlooked."""

from gm_bots.unseen import Unseen


def test_each_check_that_was_answered_leaves_less_hope() -> None:
    hope = Unseen(0.12)
    hope.goes_on()
    hope.moves(checks=True)
    hope.goes_on()
    assert hope.probability == 0.06
    hope.goes_on()
    assert hope.probability == 0.06, "it was answered once"
    hope.moves(checks=False)
    hope.goes_on()
    assert hope.probability == 0.06, "a move without a check tells nothing"
