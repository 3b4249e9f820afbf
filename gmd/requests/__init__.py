"""Code that the request handlers share."""
