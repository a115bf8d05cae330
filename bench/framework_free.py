"""The same work without a framework: claim, ask, store, publish, with psycopg, redis, http.client and json alone.

No Django, no Celery, no validation, no lease to extend, no record of the call, no watchers of the text: what remains is
the floor that a queue in PostgreSQL stands on.
"""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis

from bench.rivals import in_threads, task

_TABLES = """
DROP TABLE IF EXISTS bare_score, bare_evaluation, bare_comparison, bare_session;
CREATE TABLE bare_session (id bigint PRIMARY KEY, completed integer NOT NULL);
CREATE TABLE bare_comparison (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text NOT NULL, worker integer, lease timestamptz,
    body text NOT NULL);
CREATE INDEX ON bare_comparison (id) WHERE status = 'pending';
CREATE TABLE bare_evaluation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    comparison bigint NOT NULL UNIQUE REFERENCES bare_comparison, winner text NOT NULL, confidence float NOT NULL,
    reasoning text NOT NULL, verdict jsonb NOT NULL, raw_response text NOT NULL, prompt_tokens integer,
    completion_tokens integer);
CREATE TABLE bare_score (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, evaluation bigint NOT NULL REFERENCES bare_evaluation,
    criterion text NOT NULL, score_a float NOT NULL, score_b float NOT NULL, reasoning text NOT NULL,
    UNIQUE (evaluation, criterion));
INSERT INTO bare_session VALUES (1, 0);
"""
_CLAIM = """
UPDATE bare_comparison SET status = 'running', worker = %s, lease = now() + interval '30 seconds'
WHERE id = (SELECT id FROM bare_comparison WHERE status = 'pending' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, body
"""
_EVALUATION = """
INSERT INTO bare_evaluation (comparison, winner, confidence, reasoning, verdict, raw_response, prompt_tokens,
    completion_tokens) VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING id
"""
_SCORE = "INSERT INTO bare_score (evaluation, criterion, score_a, score_b, reasoning) VALUES (%s, %s, %s, %s, %s)"
_DONE = "UPDATE bare_comparison SET status = 'completed', lease = NULL WHERE id = %s AND status = 'running'"
_COUNT = "UPDATE bare_session SET completed = completed + 1 WHERE id = 1 RETURNING completed"


def main() -> None:
    """Fill the queue, then judge it in threads, each with its own connections."""
    asked = task()
    with psycopg.connect(asked["database"], autocommit=True) as connection:
        connection.execute(_TABLES)
        rows = [(json.dumps(body),) for body in asked["bodies"]]
        connection.cursor().executemany("INSERT INTO bare_comparison (status, body) VALUES ('pending', %s)", rows)
    broadcast = redis.Redis.from_url(asked["redis"])
    in_threads(asked["lanes"], lambda: _lane(asked["database"], broadcast, asked["base_url"]))


def _lane(database: str, broadcast: redis.Redis, base_url: str) -> None:
    address = urlsplit(base_url)
    server = HTTPConnection(address.hostname or "", address.port)
    with psycopg.connect(database, autocommit=True) as connection:
        while claimed := connection.execute(_CLAIM, [1]).fetchone():
            completed = _store(connection, claimed[0], _ask(server, f"{address.path}/chat/completions", claimed[1]))
            broadcast.publish("bare", json.dumps({"comparison": claimed[0], "completed": completed}))


def _ask(server: HTTPConnection, path: str, body: str) -> dict[str, Any]:
    server.request("POST", path, body.encode(), {"content-type": "application/json"})
    answer: dict[str, Any] = json.loads(server.getresponse().read())
    return answer


def _store(connection: "psycopg.Connection[Any]", comparison: int, answer: dict[str, Any]) -> int:
    text = answer["choices"][0]["message"]["content"]
    verdict, usage = json.loads(text), answer["usage"]
    head = [comparison, verdict["winner"], verdict["confidence"], verdict["final_justification"], json.dumps(verdict)]
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(_EVALUATION, [*head, text, usage["prompt_tokens"], usage["completion_tokens"]])
        (evaluation,) = cursor.fetchone() or (0,)
        cursor.executemany(
            _SCORE,
            [
                (evaluation, key, score["score_a"], score["score_b"], score["reasoning"])
                for key, score in verdict["criteria_scores"].items()
            ],
        )
        cursor.execute(_DONE, [comparison])
        (completed,) = cursor.execute(_COUNT).fetchone() or (0,)
    return int(completed)


if __name__ == "__main__":
    main()
