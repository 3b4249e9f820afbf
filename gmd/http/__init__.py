"""HTTP: metrics and health checks for operators, reconchess's API for players, and anything else served to browsers.

litestar routes requests and h11 reads their heads; accepting, limiting and closing connections is our own code.
"""
