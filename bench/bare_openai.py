"""A bare loop with the openai client: it streams the answers chunk by chunk, and does nothing with them."""

import openai

from bench.rivals import in_threads, task


def main() -> None:
    """Stream all answers in threads with one client, as its documentation shows it."""
    asked = task()
    client = openai.OpenAI(base_url=asked["base_url"], api_key="none", max_retries=0)
    waiting = iter(asked["bodies"])

    def lane() -> None:
        for body in waiting:
            text = ""
            for chunk in client.chat.completions.create(**body):
                if chunk.choices:
                    text += chunk.choices[0].delta.content or ""
            if not text.endswith("}"):
                raise RuntimeError("no whole answer")

    in_threads(asked["lanes"], lane)


if __name__ == "__main__":
    main()
