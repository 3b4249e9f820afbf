"""Games in files: their export from a log, and their import into one."""
