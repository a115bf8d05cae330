"""Tests of the judge's pages."""
