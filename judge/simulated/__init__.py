"""The simulated judge: an OpenAI-compatible server without a model, for trying out and testing. Simulated, no LLM."""
