"""The clients of both services: every operation, and what takes more than one request."""

from __future__ import annotations

import math
import random
import time
from contextlib import closing
from typing import Generator, cast

import httpx

from .gen.control_plane import CanonicalEvent, ControlPlaneCalls, Run, RunState
from .gen.launcher import LauncherCalls
from .http import RunplaneError

_ENDS = ("run.completed", "run.failed", "run.cancelled")
_ENDED = ("completed", "failed", "cancelled")
# Seconds.
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
# The service lets a request wait for a minute at most.
_LONGEST_WAIT = 60.0


class LogReset(Exception):
    """The service was restored from a backup: the events of the run that were received so far are void."""

    def __init__(self, run_id: str, seq: int) -> None:
        super().__init__(f"the log of the run {run_id} was restored and now ends with seq {seq}: read it again")
        self.run_id = run_id
        self.seq = seq


class ControlPlane(ControlPlaneCalls):
    """The run control plane, such as `ControlPlane("http://127.0.0.1:3001")`."""

    def wait(self, run_id: str, *, timeout: float = 600.0) -> Run:
        """Waits for the end of a run. Raises TimeoutError when the run has not ended by then."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            wait_ms = round(min(max(left, 0.0), _LONGEST_WAIT) * 1000)
            run = self.get_run(run_id, wait="terminal", timeout_ms=wait_ms)
            if run["status"] in _ENDED:
                return run
            if left <= 0:
                raise TimeoutError(f"the run {run_id} is {run['status']} after {timeout} s")

    def follow(self, run_id: str, *, after_seq: int = 0) -> Generator[CanonicalEvent, None, None]:
        """
        The events of a run to its end, each once and in order. A broken connection is made again after the last event
        received. A run that has ended before `after_seq` gives the events since then. Raises LogReset when a restored
        backup has lost events, and RunplaneError when the service refuses.
        """
        seq = after_seq
        pause = _FIRST_PAUSE
        while True:
            try:
                last_seq = math.inf
                with closing(self.stream_run(run_id, after_seq=seq, snapshots="first")) as stream:
                    for message in stream:
                        pause = _FIRST_PAUSE
                        if message.event == "reset":
                            raise LogReset(run_id, int(message.data["seq"]))
                        if message.event == "snapshot":
                            last_seq = _last_seq(cast(RunState, message.data))
                            if seq >= last_seq:
                                return
                        if message.event == "canonical_event":
                            event = cast(CanonicalEvent, message.data)
                            seq = event["seq"]
                            yield event
                            if event["type"] in _ENDS or seq >= last_seq:
                                return
            except httpx.TransportError:
                pass  # The next round connects again.
            except RunplaneError as error:
                if error.status < 500 and error.status != 429:
                    raise
            time.sleep(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 2, _LONGEST_PAUSE)


def _last_seq(state: RunState) -> float:
    """The seq of the last event of a run that has ended: its stream stays open."""
    return state["timeline"]["latestSeq"] if state["run"]["status"] in _ENDED else math.inf


class Launcher(LauncherCalls):
    """The scenario launch service, such as `Launcher("http://127.0.0.1:3000")`."""
