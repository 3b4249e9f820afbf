"""What stands between sockets and sessions: listening, TLS, admission, fair shares of the processor and of memory."""
