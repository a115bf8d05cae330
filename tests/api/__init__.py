"""Tests of judge.api."""
