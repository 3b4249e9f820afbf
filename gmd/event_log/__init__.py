"""The event log: one interface, one module per way of keeping it."""
