"""The rules of judging, in pure Python: no Django, no I/O, no clock, no global random."""
