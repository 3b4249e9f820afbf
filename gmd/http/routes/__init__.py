"""What is served over HTTP: a module for each group of routes, which :mod:`gmd.http.app` gathers."""
