"""Events as text, encoded once per process however many watchers get them."""

import json
from collections import OrderedDict
from typing import Any

KEPT = 512

_texts: OrderedDict[int, tuple[dict[str, Any], str]] = OrderedDict()


def encode(message: dict[str, Any]) -> str:
    """A message as JSON; numbers that JSON does not know raise ValueError."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode_event(event: dict[str, Any]) -> str:
    """An event that the hub gave to several watchers. It is the same object for all, so identity is the key; keeping
    the object keeps the identity from being given to another one."""
    known = _texts.get(id(event))
    if known is not None and known[0] is event:
        return known[1]
    text = encode(event)
    _texts[id(event)] = (event, text)
    while len(_texts) > KEPT:
        _texts.popitem(last=False)
    return text
