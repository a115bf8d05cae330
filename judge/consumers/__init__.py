"""WebSockets: they read, never write."""
