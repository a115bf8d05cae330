"""What holds for every file, found by trying many."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pillars.readers.detect import read

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_file_makes_reading_raise_or_pass_in_silence(data: bytes) -> None:
    result = read(data, "x")
    assert result.threads or result.problems


letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(str.strip)
threads = st.lists(
    st.fixed_dictionaries(
        {
            "subject": letters,
            "messages": st.lists(
                st.fixed_dictionaries({"role": st.sampled_from(["client", "counsellor"]), "content": letters}),
                min_size=1,
                max_size=4,
            ),
        }
    ),
    min_size=1,
    max_size=4,
)


@given(threads, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_written_is_what_is_read(values: list[dict[str, Any]], escaped: bool, indent: int | None) -> None:
    document = [{"id": str(number), **value} for number, value in enumerate(values)]
    result = read(json.dumps(document, ensure_ascii=escaped, indent=indent).encode(), "x")
    assert result.problems == ()
    read_back = [
        {"subject": t.subject, "messages": [{"role": m.role, "content": m.content} for m in t.messages]}
        for t in result.threads
    ]
    assert read_back == values
