"""The lobby of a cluster: one daemon has it, the others tell it what it needs to know and ask it.

Every daemon has all parts (:class:`~gmd.cluster.lobby.service.LobbyService` wires them):

- :mod:`~gmd.cluster.lobby.reporter` tells the lobby's owner of this daemon's games; :mod:`~gmd.cluster.lobby.news`
  takes that in at the lobby's owner, each change once and in its order.
- :mod:`~gmd.cluster.lobby.games` carries the lobby's commands to the owners of games.
- :mod:`~gmd.cluster.lobby.makers` has the games of invitations and pairings made by other daemons, where
  :mod:`~gmd.cluster.lobby.making` makes them.
- :mod:`~gmd.cluster.lobby.watching` lets the lobby's owner know of all turns of players who wait for any game.
- :mod:`~gmd.cluster.lobby.accounts` keeps the players of all daemons alike, :mod:`~gmd.cluster.lobby.presence` tells
  who is connected where, :mod:`~gmd.cluster.lobby.places` has one count of the games of each address, and
  :mod:`~gmd.cluster.lobby.seeks` keeps the queue of seekers when the lobby's owner dies.
- :mod:`~gmd.cluster.lobby.failures` counts wrong keys and passwords of an address at all daemons together, and
  :mod:`~gmd.cluster.lobby.bots` lets all of them know the bots that the lobby's owner runs.
- :mod:`~gmd.cluster.lobby.ownership` starts the lobby where this daemon gets it, and reads again what a daemon that has
  died may not have reported.

Notes may be lost with the daemon that sends them or the one that takes them, never otherwise. So a new owner of the
lobby first has the word of every living daemon that it reports to the new owner from now on, and then reads the log.
"""
