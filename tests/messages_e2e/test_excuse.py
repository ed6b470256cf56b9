"""Which ends of connections RabbitMQ itself is to blame for: only then is a test that failed run again."""

from datetime import datetime, timezone

import pytest

from rabbitmq_server import count_own_breaks, own_break_times

BEGINNING = "[warning] <0.3830.0> Connection (<0.3830.0>) closing: internal error in channel (<0.3836.0>): "


def test_a_channel_that_is_gone_is_its_own_fault():
    assert count_own_breaks(f"one line\n{BEGINNING}noproc\nanother line\n{BEGINNING}noproc") == 2


@pytest.mark.parametrize("reason", ["{badmatch,{empty,{[],[]}}}", "{noproc,{gen_server,call,[]}}", "noprocess", ""])
def test_what_a_client_may_have_provoked_is_not(reason):
    assert count_own_breaks(f"{BEGINNING}{reason}\nanother line\n") == 0


def test_the_log_tells_when_it_was():
    line = f"2026-03-01 17:30:05.125000+01:00 {BEGINNING}noproc"
    other = f"2026-03-01 17:30:04.125000+01:00 {BEGINNING}noprocess"
    assert own_break_times(f"one line\n{other}\n{line}\nanother line\n") == [
        datetime(2026, 3, 1, 16, 30, 5, 125_000, timezone.utc)
    ]
