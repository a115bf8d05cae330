"""A real model on this machine: ``make demo-llm`` judges six comparisons with a llama.cpp server of its own."""
