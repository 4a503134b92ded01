"""For all tests: a thread a network, an ear for Ctrl-C, long modules first, commands without a process of their own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

# Read when torch is first imported, also by the processes that tests start. Networks as small as those of tests gain
# nothing by threads, which only wait for each other where several processes share the cores.
os.environ["OMP_NUM_THREADS"] = "1"

# Where the tests run in the background they do not hear Ctrl-C, and the processes that they start should.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Modules that take long, the longest first: a process that has nothing left to do takes the next, so that at the end
# all are done at about the same time.
LONG = (
    *("test_cluster", "test_studies", "test_browser", "test_run", "test_arena", "test_exact", "test_guests"),
    *("test_openspiel", "test_web_table", "test_table", "test_web_server", "test_web_lab", "test_search"),
    *("test_alphabeta", "test_doctor", "test_laws", "test_json_engine", "test_cli", "test_api", "test_evaluate"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order within a module stays."""
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Carries out a command as the process `tesuji` would, in this one: Python need not start for it."""
    from tesuji import cli

    def carry_out(*words: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        monkeypatch.setattr(sys, "argv", ["tesuji", *words])
        try:
            with pytest.raises(SystemExit) as end:
                cli.main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return subprocess.CompletedProcess(words, end.value.code or 0, *capfd.readouterr())

    return carry_out
