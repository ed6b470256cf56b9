"""postino messages, as people and scripts use it."""

import json
import subprocess

import pytest

from message_server import bodies
from waiting import PATIENCE_SECONDS


class Postino:
    def __init__(self, binary, url):
        self.binary, self.url = binary, url

    def run(self, *arguments, input=None):
        return subprocess.run(
            [self.binary, "messages", *map(str, arguments)],
            input=input,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env={"POSTINO_URL": self.url, "LC_ALL": "C.UTF-8"},
        )

    def succeed(self, *arguments, **more):
        ended = self.run(*arguments, **more)
        assert ended.returncode == 0, ended
        return ended.stdout


@pytest.fixture(scope="module")
def postino(binary, server):
    return Postino(binary, server.url)


@pytest.fixture
def flags(queue):
    return ["--queue", queue.name, "--connection", queue.place]


class TestProduce:
    def test_bodies(self, postino, rest, queue, flags):
        output = postino.succeed("produce", *flags, "--body", "one", "--body", "two")
        assert output == f"2 messages produced to {queue.name}\n"
        assert bodies(queue.consume_all(rest, 2)) == ["one", "two"]

    def test_every_option_reaches_the_message(self, postino, rest, queue, flags):
        options = ["--format", "JSON", "--property", "a=1=2", "--property", "b=", "--reply-to", "answers"]
        options += ["--count", "3", "--batch-size", "2", "--concurrency", "1", "--time-to-live", "90s", "--transient"]
        postino.succeed("produce", *flags, "--body", '{"n":1}', *options)
        found = queue.consume_all(rest, 3).json["messages"]
        assert len(found) == 3
        assert found[0]["format"] == "JSON" and found[0]["body"] == '{"n":1}'
        assert found[0]["properties"] == {"a": "1=2", "b": ""}
        assert "answers" in found[0]["replyTo"]

    def test_file(self, postino, rest, queue, flags, directory):
        lines = "".join(json.dumps({"body": f"line {i}"}) + "\n" for i in range(2500))
        (directory / "messages.jsonl").write_text(lines)
        output = postino.succeed("produce", *flags, "--file", directory / "messages.jsonl")
        assert output == f"2,500 messages produced to {queue.name}\n"
        assert bodies(queue.consume_all(rest, 2500)) == [f"line {i}" for i in range(2500)]
        postino.succeed("produce", *flags, "--file", "-", input='{"messages": [{"body": "a"}, {"body": "b"}]}')
        assert bodies(queue.consume_all(rest, 2)) == ["a", "b"]

    def test_same_key_is_the_same(self, postino, rest, queue, flags):
        words = ["produce", *flags, "--body", "x", "--count", "25000", "--idempotency-key", "once-" + queue.name]
        assert postino.succeed(*words) == f"25,000 messages produced to {queue.name}\n"
        assert postino.succeed(*words) == f"25,000 messages produced to {queue.name} (25,000 by an earlier request)\n"
        assert sum(queue.take_ids(rest).values()) == 25_000

    def test_json_is_the_answer(self, postino, flags):
        answers = postino.succeed("produce", *flags, "--body", "x", "--count", "12000", "--json").splitlines()
        assert [json.loads(answer)["processedMessages"] for answer in answers] == [10_000, 2_000]

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["--queue", "q"],
            ["--body", "x"],
            ["--queue", "q", "--body", "x", "--file", "f"],
            ["--queue", "q", "--body", "x", "--delay", "soon"],
            ["--queue", "q", "--body", "x", "--count", "0"],
            ["--queue", "q", "--body", "x", "--property", "no-value"],
        ],
        ids=" ".join,
    )
    def test_misuse_is_told_from_failure(self, postino, arguments):
        ended = postino.run("produce", *arguments)
        assert ended.returncode == 2 and ended.stderr, ended

    def test_refusal_names_the_field(self, postino):
        ended = postino.run("produce", "--queue", "q", "--body", "{", "--format", "JSON")
        assert ended.returncode == 1 and "messages[0].body must be valid JSON" in ended.stderr
        assert "Repeat" not in ended.stderr
        ended = postino.run("produce", "--queue", "nowhere", "--connection", "rabbitmq", "--body", "x")
        assert ended.returncode == 1 and "Queue not found" in ended.stderr

    def test_nobody_there(self, binary):
        ended = Postino(binary, "http://127.0.0.1:1").run("produce", "--queue", "q", "--body", "x")
        assert ended.returncode == 1 and "Is it running?" in ended.stderr


class TestConsume:
    def test_messages_are_printed(self, postino, rest, queue, flags):
        queue.fill(rest, "one", "two \x1b[31m", "three")
        output = postino.succeed("consume", *flags, "--max", "2")
        assert "\x1b" not in output
        lines = output.splitlines()
        assert lines[0].split() == ["ID", "FORMAT", "BODY"]
        assert lines[1].split()[1:] == ["TEXT", "one"] and lines[2].split()[1:3] == ["TEXT", "two"]
        assert lines[3] == f"2 messages consumed from {queue.name}"

    def test_keep_leaves_them(self, postino, rest, queue, flags):
        queue.fill(rest, "one")
        for _ in range(2):
            assert "1 message seen in" in postino.succeed("consume", *flags, "--keep", "--wait", "5s")

    def test_more_than_one_call_takes(self, postino, rest, queue, flags):
        assert queue.produce(rest, ["x"], totalMessages=10_500).status == 200
        answers = postino.succeed("consume", *flags, "--max", "20000", "--json").splitlines()
        counts = [json.loads(answer)["processedMessages"] for answer in answers]
        assert sum(counts) == 10_500 and counts[-1] == 0, counts

    def test_same_key_gets_the_same(self, postino, rest, queue, flags):
        queue.fill(rest, "one", "two")
        first, second = (postino.succeed("consume", *flags, "--idempotency-key", "once-" + queue.name) for _ in range(2))
        assert "one" in first and second == first[:-1] + " (1 by an earlier request)\n"


def test_depth(postino, rest, new_queue, place):
    one, two = new_queue(), new_queue()
    one.fill(rest, "x")
    lines = postino.succeed("depth", one.name, two.name, "--connection", place).splitlines()
    assert [line.split() for line in lines] == [["QUEUE", "MESSAGES"], [one.name, "1"], [two.name, "0"]]
    shown = postino.succeed("depth", one.name, "--connection", place, "--json")
    assert json.loads(shown) == {"queueName": one.name, "depth": 1}
    ended = postino.run("depth", "x", "--connection", "nowhere")
    assert ended.returncode == 1 and "connection must be the name of a connection in the configuration" in ended.stderr


def test_connection(postino, rabbitmq):
    output = postino.succeed("test", "rabbitmq")
    assert "RabbitMQ" in output and rabbitmq.address in output
    assert json.loads(postino.succeed("test", "rabbitmq", "--json"))["product"] == "RabbitMQ"
    assert postino.succeed("test")
    assert postino.run("test", "nowhere").returncode == 1


def test_key_is_made_up(postino, rest, queue, flags):
    for _ in range(2):
        postino.succeed("produce", *flags, "--body", "x")
    assert queue.depth(rest) == 2
