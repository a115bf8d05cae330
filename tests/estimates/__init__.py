"""What a plan takes before it is written, what is said about it, and what is recommended."""
