"""Python reads this at its start: the SDK then finds the scripted `claude` on the path instead of its own."""

import importlib.util

if importlib.util.find_spec("claude_agent_sdk") is not None:
    from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

    SubprocessCLITransport._find_bundled_cli = lambda self: None
