"""Views: load by selector, check the input, call one service, answer."""
