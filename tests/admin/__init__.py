"""Tests of judge.admin."""
