"""The copying of a whole log between two places: data directories with SQLite's file, and PostgreSQL databases."""
