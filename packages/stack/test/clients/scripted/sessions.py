"""Two assistants decide by macp-mcp, and its gate lets one tool call through and refuses another."""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from macp_sdk import AuthConfig, MacpClient, QuorumSession
from mcp import Client, StdioServerParameters

RUNTIME = sys.argv[1]
SESSION_STATE_OPEN = 1
BIN = Path(sys.executable).parent
HERE = Path(__file__).parent


def server(agent, *arguments):
    """The program as its quick start configures it: its name is its credential."""
    env = {"PATH": os.environ["PATH"], "MACP_RUNTIME_TARGET": RUNTIME, "MACP_AGENT_ID": agent, "MACP_ALLOW_INSECURE": "1"}
    return Client(StdioServerParameters(command=str(BIN / "macp-mcp"), args=list(arguments), env=env))


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, f"{name}: {result.content[0].text}"
    return result.structured_content


async def decide():
    async with server("coordinator") as lead, server("alice") as alice:
        started = await call(lead, "start_session", intent="pick a plan", participants=["coordinator", "alice"])
        session = {"session_id": started["session_id"]}
        await call(lead, "propose", **session, proposal_id="p1", option="canary", rationale="small steps")
        await call(alice, "evaluate", **session, proposal_id="p1", recommendation="APPROVE", confidence=0.9, reason="ok")
        await call(lead, "vote", **session, proposal_id="p1", vote="APPROVE", reason="fine")
        await call(alice, "vote", **session, proposal_id="p1", vote="APPROVE", reason="fine")
        await call(lead, "commit", **session, action="plan.approved", authority_scope="release", reason="2 of 2")
        commitment = await call(lead, "get_commitment", **session)
        verified = await call(lead, "verify", **session, commitment_hash=commitment["commitment_hash"])
        return {**session, "hash": commitment["commitment_hash"], "verified": verified["outcome"]}


async def gated(approve):
    """Calls the tool; the two approvers find the session and vote, each under its own name."""
    policy = Path(tempfile.mkdtemp()) / "gate.json"
    rule = {"tool": "write_file", "mode": "macp.mode.quorum.v1", "participants": ["bob", "carol"], "threshold": 2}
    policy.write_text(json.dumps({"version": 1, "server": "files", "rules": [rule]}))
    upstream = ["--upstream", sys.executable, str(HERE / "upstream.py")]
    async with server("gatekeeper", "gate", "--policy", str(policy), *upstream) as client:
        calling = asyncio.create_task(client.call_tool("write_file", {"path": f"/srv/{approve}"}))
        session = await asyncio.to_thread(vote, approve)
        result = await calling
        return {"session_id": session, "refused": result.is_error, "text": result.content[0].text}


def is_open(session):
    return session.initiator == "gatekeeper" and session.state == SESSION_STATE_OPEN


def connect(name):
    return MacpClient(target=RUNTIME, allow_insecure=True, auth=AuthConfig.for_dev_agent(name))


def vote(approve):
    bob = connect("bob")
    while not (found := next((one for one in bob.list_sessions() if is_open(one)), None)):
        time.sleep(0.05)
    for name in ["bob", "carol"]:
        session = QuorumSession(connect(name), session_id=found.session_id)
        try:
            if approve:
                session.approve(found.context_id, reason="fine")
            else:
                session.reject(found.context_id, reason="too early")
        except Exception as error:
            # The first refusal settles it, so the gate may have committed before the second.
            if approve or name == "bob" or "SESSION_NOT_OPEN" not in str(error):
                raise
    return found.session_id


async def main():
    print(json.dumps({"decided": await decide(), "passed": await gated(True), "refused": await gated(False)}))


asyncio.run(main())
