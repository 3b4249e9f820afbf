"""The lobby, in which registered players find opponents, by invitations and by a queue.

An invitation is a game that has not begun, and has that game's id. The inviter has its seat in the game at once. The
other seat is kept for the invited player, who takes it (accepts) or calls the game off (declines). So invitations are
stored only in the log of games, and survive a restart as games do. This package has the operations, the limits, and an
in-memory index of the log's invitations (:mod:`~gmd.lobby.book`).

Other packages call :class:`~gmd.lobby.lobby.Lobby`::

    live = await lobby.invite(alice, "bob", chess.WHITE)      # alice is seated, bob invited; live.game.id
    live = await lobby.offer(Offer(alice, bob, ranked=True))  # both are invited, as a matchmaker does
    lobby.book.received(bob), lobby.book.sent(alice)          # pending Invitations
    await lobby.listed(bob)                                   # the invitations to show to reconchess's client
    live = await lobby.accept(game_id, bob, now)              # the same game again if bob has accepted before
    lobby.ready(live, bob, now)                               # bob has made contact: the clock may start
    await lobby.finish(game_id, bob, now)                     # bob has finished with the invitation
    await lobby.decline(game_id, bob, now)                    # alice withdraws it in the same way
    lobby.room(bob)                                           # how many more games bob takes
    lobby.presence.present()                                     # the present players; see lobby.presence.seen(bob)

``now`` is the time of the request's arrival, in the loop's time. Methods that change something return once the change
is durable, and raise :class:`~gm_protocol.errors.GmError` if it is refused: ``NotAvailable`` or ``NoSuchGame`` if the
player has no such invitation or its state does not allow the change, ``TooMany`` for limits. The caller must have
authorised the request to act as the player.
"""
