"""The handlers of requests, one module for each kind, and what they share; :mod:`gmd.handlers.dispatch` finds them."""
