"""Plans in the database: written at creation, by a worker, or growing with the verdicts."""
