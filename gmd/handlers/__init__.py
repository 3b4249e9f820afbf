"""The handlers of requests, one module for each kind; :mod:`gmd.handlers.table` lists them."""
