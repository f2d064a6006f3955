"""Clients of Runplane: the run control plane, the scenario launch service, and the protobuf files for agents."""

from pathlib import Path

from .clients import ControlPlane, Launcher, LogReset
from .http import RunplaneError, StreamMessage

__all__ = ["ControlPlane", "Launcher", "LogReset", "RunplaneError", "StreamMessage", "proto_path"]


def proto_path() -> Path:
    """The folder of the protobuf files of the runtime's protocol, for `grpc_tools.protoc -I`."""
    return Path(__file__).parent / "proto"
