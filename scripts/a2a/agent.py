"""dummy-a2a as an agent that votes: whatever a message says, it does what the keyword says. For scripts/test-a2a.mjs."""

import asyncio
import sys

from dummy_a2a.server import DummyA2AServer
from dummy_a2a.skills import SkillRouter


async def main(port, keyword):
    SkillRouter.resolve = lambda self, context: self._handlers[keyword]
    async with DummyA2AServer(port=port, log_level="error", sdk_log_level="CRITICAL"):
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
