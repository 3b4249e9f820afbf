"""HTTP: metrics and health for operators, and the place for whatever else is served to browsers and HTTP clients.

litestar routes requests and hypercorn speaks HTTP/1.1; connections, their limits and their ends are ours.
"""
