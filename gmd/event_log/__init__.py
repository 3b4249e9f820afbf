"""The event log: one interface, and one module per kind of storage."""
