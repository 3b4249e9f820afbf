"""Games in files: out of a log, and into one."""
