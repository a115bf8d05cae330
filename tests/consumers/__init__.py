"""Tests of judge.consumers."""
