"""Work: searches in slices on a few threads, shared fairly by all tables.

A job is a generator: each step is a bit of work (at most some hundredths of a second where that is possible), what it
yields is told to its owner, and what it returns ends it. A job runs for a slice, then others have their turn. Who waits
longest beyond its patience comes first, so that replies come before analyses and these before reviews, and nobody
starves.
"""

import contextlib
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

__all__ = ["ANALYSIS", "REPLY", "REVIEW", "Job", "Pool", "Steps"]

Steps = Generator[Any, None, Any]
Post = Callable[[Callable[[], None]], object]

_SLICE = 0.1  # seconds

# Patience in seconds: how long a slice gladly waits.
REPLY = 0.0
ANALYSIS = 2.0
REVIEW = 5.0

_log = logging.getLogger("tesuji.web")


class Job:
    """Something under way. Its owner hears no more of it once it is cancelled."""

    def __init__(
        self,
        steps: Steps,
        patience: float,
        tell: Callable[[Any], None],
        done: Callable[[Any], None],
        fail: Callable[[Exception], None],
        most: float,
        after: "Job | None",
        long: bool,
    ) -> None:
        self.steps = steps
        self.patience = patience
        self.tell, self.done, self.fail = tell, done, fail
        self.most = most
        self.after = after
        self.long = long
        self.used = 0.0  # seconds of work
        self.cancelled = False
        self.ended = False
        self.followers: list[Job] = []  # that wait for its end

    def cancel(self) -> None:
        """Stops it at the end of the step under way."""
        self.cancelled = True


class Pool:
    """The threads that work. ``post`` calls a function in the owners' thread."""

    def __init__(self, threads: int, post: Post) -> None:
        self._post = post
        self._ready: list[tuple[float, int, Job]] = []  # by the end of their patience
        self._ready_long: list[tuple[float, int, Job]] = []  # the same for jobs of long steps
        self._long = 0  # threads that are at such a job
        self._later: list[tuple[float, int, Job]] = []  # by their time
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, name=f"work-{i}", daemon=True) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def start(
        self,
        steps: Steps,
        *,
        patience: float,
        done: Callable[[Any], None],
        fail: Callable[[Exception], None],
        tell: Callable[[Any], None] = lambda told: None,
        most: float = 3600.0,
        delay: float = 0.0,
        after: Job | None = None,
        long: bool = False,
    ) -> Job:
        """A job of at most so many seconds of work, which begins when another that uses the same things has ended.

        ``delay``: seconds to wait before that. ``long``: its steps are; they never occupy all threads.
        """
        job = Job(steps, patience, tell, done, fail, most, after, long)
        with self._changed:
            if delay:
                heapq.heappush(self._later, (time.monotonic() + delay, next(self._numbers), job))
                self._changed.notify()
            else:
                self._begin(job)
        return job

    def close(self) -> None:
        """Ends all work; at the latest when the steps under way end."""
        with self._changed:
            self._closed = True
            for jobs in (self._ready, self._ready_long, self._later):
                jobs.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=5)

    # Under the lock:

    def _begin(self, job: Job) -> None:
        after, job.after = job.after, None
        if after is not None and not after.ended:
            after.followers.append(job)
        else:
            self._queue(job)

    def _queue(self, job: Job) -> None:
        place = time.monotonic() + job.patience, next(self._numbers), job
        heapq.heappush(self._ready_long if job.long else self._ready, place)
        self._changed.notify()

    def _next(self) -> Job | None:
        """The most urgent job that may begin."""
        queues = [self._ready]
        if self._long < max(1, len(self._threads) - 1):
            queues.append(self._ready_long)
        full = [jobs for jobs in queues if jobs]
        return heapq.heappop(min(full, key=lambda jobs: jobs[0][:2]))[2] if full else None

    # In the threads:

    def _work(self) -> None:
        while True:
            with self._changed:
                while True:
                    now = time.monotonic()
                    while self._later and self._later[0][0] <= now:
                        self._begin(heapq.heappop(self._later)[2])
                    if self._closed:
                        return
                    if (job := self._next()) is not None:
                        break
                    self._changed.wait(self._later[0][0] - now if self._later else None)
                self._long += job.long
            ended = self._slice(job)
            with self._changed:
                if job.long:
                    self._long -= 1
                    self._changed.notify()  # another may begin
                if not ended:
                    self._queue(job)
                    continue
                job.ended = True
                for follower in job.followers:
                    self._queue(follower)
                job.followers.clear()

    def _slice(self, job: Job) -> bool:
        """Whether the job has ended."""
        began = time.perf_counter()
        try:
            while not job.cancelled:
                told = next(job.steps)
                if told is not None:
                    self._say(job, job.tell, told)
                spent = time.perf_counter() - began
                if job.used + spent > job.most:
                    raise TimeoutError(f"this took more than {job.most:g} s and was stopped")
                if spent >= _SLICE:
                    job.used += spent
                    return False
            job.steps.close()
        except StopIteration as end:
            self._say(job, job.done, end.value)
        except Exception as trouble:
            job.steps.close()
            if not isinstance(trouble, ValueError | TimeoutError):
                _log.exception("a job failed")
            self._say(job, job.fail, trouble)
        return True

    def _say(self, job: Job, to: Callable[[Any], None], what: object) -> None:
        def call() -> None:
            if not job.cancelled:
                to(what)

        with contextlib.suppress(RuntimeError):  # the owners' loop is closed already
            self._post(call)
