"""HTTP at any daemon of a cluster: the daemon that owns what a request is for answers it, and others pass it on.

The *entry daemon* is the one to which the client is connected. It looks up the owner (:mod:`.destinations`), sends the
whole request over a connection between daemons (:mod:`.peers`), and gives back the owner's status, headers and body
(:mod:`.entry`), or its stream of events (:mod:`.streams`). The owner serves such connections with the same code as any
other; it believes what the entry daemon says about the client (:mod:`.origin`), and sends a request back if it does not
own what the request is for (:mod:`.owner`).
"""
