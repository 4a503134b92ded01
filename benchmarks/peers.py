"""Self-play beside the JAX peers (pgx rules, mctx search) on one GPU: same trunk, same budget, same run.

    python benchmarks/peers.py --games 4096 --simulations 32
    python benchmarks/peers.py --games 2048 --simulations 128

Both sides play 9×9 Go with Gumbel's search and a residual net of random weights in half precision. They take turns, a
few seconds each, and the median of the turns counts. The peers have a process of their own, so that nothing of ours
stands in their way. They need jax, pgx and mctx, ours torch with CUDA; peers that are missing are left out with a word.
"""

import argparse
import functools
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def peer(channels: int, blocks: int, simulations: int, games: int) -> Callable[[float], float]:
    """A function that runs pgx + mctx for so many seconds and returns simulations a second."""
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    env = pgx.make("go_9x9")
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 1000))

    def kernel(inputs: int, outputs: int, size: int) -> Any:
        scale = (2 / (inputs * size * size)) ** 0.5
        return jax.random.normal(next(keys), (size, size, inputs, outputs), jnp.bfloat16) * scale

    def matrix(inputs: int, outputs: int) -> Any:
        return jax.random.normal(next(keys), (inputs, outputs), jnp.bfloat16) * 0.05

    state = jax.jit(jax.vmap(env.init))(jax.random.split(next(keys), games))
    planes = state.observation.shape[-1]
    weights = {
        "stem": kernel(planes, channels, 3),
        "blocks": [(kernel(channels, channels, 3), kernel(channels, channels, 3)) for _ in range(blocks)],
        "policy": kernel(channels, 2, 1),
        "moves": matrix(2 * 81, env.num_actions),
        "value": kernel(channels, 1, 1),
        "hidden": matrix(81, 64),
        "last": matrix(64, 1),
    }

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def net(w: Any, x: Any) -> tuple[Any, Any]:
        x = jax.nn.relu(conv(x.astype(jnp.bfloat16), w["stem"]))
        for first, second in w["blocks"]:
            x = jax.nn.relu(x + conv(jax.nn.relu(conv(x, first)), second))
        flat = jax.nn.relu(conv(x, w["policy"])).reshape(x.shape[0], -1)
        value = jax.nn.relu(conv(x, w["value"])).reshape(x.shape[0], -1)
        value = jnp.tanh(jax.nn.relu(value @ w["hidden"]) @ w["last"])[:, 0]
        return (flat @ w["moves"]).astype(jnp.float32), value.astype(jnp.float32)

    def follow(w: Any, _key: Any, action: Any, state: Any) -> tuple[Any, Any]:
        player = state.current_player
        state = jax.vmap(env.step)(state, action)
        logits, value = net(w, state.observation)
        logits = jnp.where(state.legal_action_mask, logits, -1e9)
        reward = state.rewards[jnp.arange(games), player]
        over = state.terminated
        answer = mctx.RecurrentFnOutput(
            reward=reward,
            discount=jnp.where(over, 0.0, -1.0),
            prior_logits=logits,
            value=jnp.where(over, 0.0, value),
        )
        return answer, state

    @jax.jit
    def move(w: Any, state: Any, key: Any) -> Any:
        search_key, new_key = jax.random.split(key)
        logits, value = net(w, state.observation)
        found = mctx.gumbel_muzero_policy(
            params=w,
            rng_key=search_key,
            root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
            recurrent_fn=follow,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
            qtransform=functools.partial(mctx.qtransform_completed_by_mix_value),
        )
        after = jax.vmap(env.step)(state, found.action)
        fresh = jax.vmap(env.init)(jax.random.split(new_key, games))
        over = after.terminated

        def pick(old: Any, new: Any) -> Any:
            return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)

        return jax.tree_util.tree_map(pick, after, fresh)

    key = jax.random.PRNGKey(1)
    state = jax.block_until_ready(move(weights, state, key))

    def run(seconds: float) -> float:
        nonlocal state, key
        moves, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            key, now = jax.random.split(key)
            state = jax.block_until_ready(move(weights, state, now))
            moves += 1
        return moves * games * simulations / (time.perf_counter() - began)

    return run


def serve_peer(door: Connection, *sizes: int) -> None:
    """A process: says how long it took to get ready, or what is missing; then takes seconds and answers with rates."""
    began = time.perf_counter()
    try:
        run = peer(*sizes)
        run(0.5)
    except ImportError as missing:
        door.send(str(missing))
        return
    door.send(time.perf_counter() - began)
    while seconds := door.recv():
        door.send(run(seconds))


def ours(channels: int, blocks: int, simulations: int, games: int, lanes: int, threads: int) -> Callable[[float], Any]:
    """A function that runs Tesuji for so many seconds and returns its figures."""
    from tesuji.bench import bench_selfplay
    from tesuji.nets import NetSettings

    return bench_selfplay(
        "go9",
        net=NetSettings(channels=channels, blocks=blocks),
        visits=simulations + 1,  # the root's own evaluation is a visit too
        games=games,
        lanes=lanes,
        threads=threads,
        device="cuda",
    )


def compiled(channels: int, blocks: int, games: int) -> float:
    """Evaluations a second of the same network by torch.compile alone, in two batches of half the games."""
    from tesuji.bench import net_alone
    from tesuji.evaluate import TorchEvaluator
    from tesuji.games import game
    from tesuji.nets import Net, NetSettings

    net = Net(game("go9"), NetSettings(channels=channels, blocks=blocks))
    answers = TorchEvaluator(net, device="cuda", kernel="compiled")
    lanes = [answers.lane(games // 2) for _ in range(2)]
    return statistics.median(net_alone(lanes, 1.0) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description="Self-play of 9×9 Go beside pgx + mctx on one GPU.")
    for name, default in (("channels", 64), ("blocks", 6), ("simulations", 32), ("games", 4096), ("turns", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a turn")
    a = parser.parse_args()
    print(f"go9, {a.channels}×{a.blocks}, {a.simulations} simulations a move, {a.games} games at once", flush=True)
    door, theirs_end = multiprocessing.Pipe()
    sizes = (a.channels, a.blocks, a.simulations, a.games)
    process = multiprocessing.get_context("spawn").Process(target=serve_peer, args=(theirs_end, *sizes), daemon=True)
    process.start()
    theirs_end.close()
    ready = door.recv()  # before ours begin: it compiles best undisturbed
    peers = not isinstance(ready, str)
    print(f"pgx + mctx ready in {ready:.0f} s" if peers else f"pgx + mctx is left out: {ready}", flush=True)
    began = time.perf_counter()
    us = ours(a.channels, a.blocks, a.simulations, a.games, a.lanes, a.threads)
    us(1.0)
    print(f"tesuji ready in {time.perf_counter() - began:.0f} s", flush=True)
    our_turns, their_turns = [], []
    for _ in range(a.turns):
        our_turns.append(us(a.seconds))
        if peers:
            door.send(a.seconds)
            their_turns.append(door.recv())
    if peers:
        door.send(0)
        process.join()
    bare = compiled(a.channels, a.blocks, a.games)
    median = sorted(our_turns, key=lambda turn: turn.simulations)[len(our_turns) // 2]
    print(f"tesuji      {median}")
    print(
        f"the net alone by torch.compile {bare:,.0f}/s; tesuji's evaluations are {median.evaluations / bare:.0%} of it"
    )
    if their_turns:
        theirs = statistics.median(their_turns)
        print(f"pgx + mctx  {theirs:,.0f} simulations/s")
        print(f"ratio       {median.simulations / theirs:.2f}")


if __name__ == "__main__":
    main()
