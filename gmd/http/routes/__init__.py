"""The HTTP routes: a module for each group, gathered by :mod:`gmd.http.app`."""
