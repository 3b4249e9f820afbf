"""One module for each kind of request, with its handler; :mod:`gmd.handlers.table` has them all."""
