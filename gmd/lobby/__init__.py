"""The lobby: where registered players find each other, by invitations and by standing in a queue.

An invitation is a game that has not begun. Whoever invites has its seat in it and its id at once; the other seat is
kept for the invited one, who takes it (accepts) or calls the game off (declines). So there is one truth about
invitations, the log of games, and it survives whatever games survive; what is in this package are the ways in, the
limits, and an index of what the log says (:mod:`~gmd.lobby.book`). The id of an invitation is that of its game.

What other rooms call is :class:`~gmd.lobby.lobby.Lobby`::

    table = await lobby.invite(alice, "bob", chess.WHITE)      # alice is seated, bob invited; table.game.id
    table = await lobby.offer(Offer(alice, bob, ranked=True))  # both are invited: what a matchmaker does
    lobby.book.received(bob), lobby.book.sent(alice)           # pending Invitations
    await lobby.listed(bob)                                    # what reconchess's client is to be shown
    table = await lobby.accept(game_id, bob, now)              # the same table again, if it has accepted
    lobby.ready(table, bob, now)                               # it has been heard from: its clock may start
    await lobby.finish(game_id, bob, now)                      # it is done with it
    await lobby.decline(game_id, bob, now)                     # or alice: withdraws it
    lobby.room(bob)                                            # how many more games it takes
    lobby.presence.here()                                      # who is active; lobby.presence.seen(bob) says so

``now`` is when the request arrived, in trio's time. Everything that changes something returns once that is durable, and
raises :class:`~gm_protocol.errors.GmError` where it is refused: ``NotAvailable`` or ``NoSuchGame`` where an invitation
does not exist for the player or is not in that state, ``TooMany`` for limits. Whether the request may act as the player
has been found out before.
"""
