"""The contracts of dummy-a2a for servers of A2A 1.0 against Runplane.

The contracts speak to a scripted agent by keywords. Runplane has scenarios with inputs, so each keyword gets the data
part of a scenario that behaves as the keyword says. Everything else of the requests stays as the contracts send it.
"""

import asyncio
import json
import sys

import httpx
from dummy_a2a._utils import A2A_JSONRPC_DEFAULT_HEADERS
from dummy_a2a.contracts import a2a_contracts

INPUTS = {"severity": "sev2", "errorRatePercent": 12.5, "replicationLagSeconds": 4, "customerFacing": True}
DECIDES = ("incident/region-failover", INPUTS)
FAILS = ("trial/fails", {})
# A text alone is a request for inputs.
SCENARIOS = {"ask": None, "fail": FAILS}


class WithInputs(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        body = json.loads(request.content or b"null")
        if isinstance(body, dict) and body.get("method") in ("SendMessage", "SendStreamingMessage"):
            message = body["params"]["message"]
            keyword = message["parts"][0]["text"].split(" ")[0]
            chosen = SCENARIOS.get(keyword, DECIDES)
            if chosen is not None:
                skill, inputs = chosen
                message["parts"].append({"data": inputs})
                message["metadata"] = {"skill": skill}
            content = json.dumps(body).encode()
            headers = {**request.headers, "content-length": str(len(content))}
            request = httpx.Request(request.method, request.url, headers=headers, content=content,
                                    extensions=request.extensions)
        return await super().handle_async_request(request)


async def main(url):
    results = []
    for contract in a2a_contracts:
        async with httpx.AsyncClient(
            base_url=f"{url}/a2a", headers=A2A_JSONRPC_DEFAULT_HEADERS, timeout=120, transport=WithInputs()
        ) as client:
            try:
                await asyncio.wait_for(contract._verify_fn(client), 120)
                results.append({"id": contract.id, "passed": True})
            except Exception as error:
                results.append({"id": contract.id, "passed": False, "detail": f"{type(error).__name__}: {error}"})
        print(json.dumps(results[-1]), flush=True)


asyncio.run(main(sys.argv[1]))
