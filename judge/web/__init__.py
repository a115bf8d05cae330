"""Pages for researchers: each view loads by selector, checks a form, calls one service, renders."""
