"""Shapes of requests and answers; no decisions."""
