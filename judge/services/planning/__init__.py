"""From a configuration to its plan: checked, estimated, written by a worker or grown by lanes."""
