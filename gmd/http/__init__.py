"""HTTP: metrics and health checks for operators, reconchess's API for players, and anything else served to browsers.

litestar routes requests and hypercorn parses HTTP/1.1; accepting, limiting and closing connections is our own code.
"""
