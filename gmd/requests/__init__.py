"""What the handlers of requests share."""
