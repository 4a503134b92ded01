"""Many people at once: websocket clients that play whole games against a level, and what the server makes of it.

    python benchmarks/web_load.py [--clients 200] [--games 1] [--level novice] [--port P]

Without a port it starts a server of its own. Prints games, moves, errors, percentiles of the time from a move to the
program's reply, and the server's memory.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.client import connect

NAMES = ("gomoku8", "ultimate", "nogo7", "dots4", "go7")


@dataclass
class Figures:
    games: int = 0
    moves: int = 0  # of the people
    errors: list[str] = field(default_factory=list)
    replies: list[float] = field(default_factory=list)  # seconds from a move to the next turn
    seconds: float = 0.0

    def percentile(self, share: float) -> float:
        found = sorted(self.replies)
        return found[min(len(found) - 1, int(share * len(found)))] if found else 0.0


async def person(port: int, number: int, games: int, level: str, names: Sequence[str], figures: Figures) -> None:
    """Plays random legal moves, now as First, now as Second."""
    chance = random.Random(number)
    try:
        async with connect(f"ws://127.0.0.1:{port}/ws", max_size=None, compression=None, open_timeout=60) as socket:
            for game in range(games):
                seats = ["human", level] if (number + game) % 2 == 0 else [level, "human"]
                await socket.send(
                    json.dumps({"do": "new", "game": names[(number + game) % len(names)], "seats": seats})
                )
                sent = 0.0
                while True:
                    message = json.loads(await asyncio.wait_for(socket.recv(), 120))
                    if message["is"] in ("trouble", "gone"):
                        figures.errors.append(message["text"])
                        return
                    if message["is"] != "position" or message["thinking"]:
                        continue
                    if sent:
                        figures.replies.append(time.perf_counter() - sent)
                        sent = 0.0
                    if message["result"] is not None:
                        break
                    sent = time.perf_counter()
                    figures.moves += 1
                    await socket.send(
                        json.dumps({"do": "play", "action": chance.choice(message["legal"]), "ply": message["ply"]})
                    )
                figures.games += 1
    except Exception as trouble:
        figures.errors.append(f"{type(trouble).__name__}: {trouble}")


def load(port: int, *, clients: int, games: int, level: str, names: Sequence[str] = NAMES) -> Figures:
    """So many clients at once, each so many games."""

    async def all_of_them() -> Figures:
        figures = Figures()
        began = time.perf_counter()
        people = (person(port, number, games, level, names, figures) for number in range(clients))
        await asyncio.gather(*people)
        figures.seconds = time.perf_counter() - began
        return figures

    return asyncio.run(all_of_them())


def memory(process: int) -> float:
    """Megabytes that a process has had at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--games", type=int, default=1)
    options.add_argument("--level", default="novice")
    options.add_argument("--port", type=int, default=0)
    given = options.parse_args()
    process = None
    port = given.port
    if not port:
        words = [sys.executable, "-m", "tesuji.cli", "play", "--no-browser", "--port", "0"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        port = int(process.stdout.readline().split(":")[2].split("/")[0])
    try:
        before = memory(process.pid) if process else 0.0
        figures = load(port, clients=given.clients, games=given.games, level=given.level)
        print(f"{given.clients} clients, level {given.level}, {os.cpu_count()} cores")
        print(f"games {figures.games}, moves {figures.moves}, errors {len(figures.errors)}, {figures.seconds:.1f} s")
        shares = ((0.5, "half"), (0.9, "90 %"), (0.99, "99 %"), (1.0, "all"))
        print("replies within: " + ", ".join(f"{word} {figures.percentile(share):.3f} s" for share, word in shares))
        if process:
            print(f"memory of the server: {before:.0f} MB before, {memory(process.pid):.0f} MB at most")
        for text in sorted(set(figures.errors)):
            print(f"error: {text}")
    finally:
        if process:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
