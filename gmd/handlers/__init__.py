"""The handlers of requests, one module for each kind; :mod:`gmd.handlers.dispatch` lists them."""
