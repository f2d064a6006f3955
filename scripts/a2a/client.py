"""The client of a2a-sdk, unmodified, against Runplane: both bindings, a stream, a list, an unknown task."""

import asyncio
import sys
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import GetTaskRequest, ListTasksRequest, Message, Part, Role, SendMessageRequest, TaskState
from a2a.utils.errors import TaskNotFoundError
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value

INPUTS = {"severity": "sev2", "errorRatePercent": 12.5, "replicationLagSeconds": 4, "customerFacing": True}


async def ask(url, binding, streaming):
    # An answer comes at the end of the task, and a stream within the limit of the SDK.
    limit = None if streaming else httpx.AsyncClient(timeout=120)
    client = await create_client(
        url, ClientConfig(streaming=streaming, httpx_client=limit, supported_protocol_bindings=[binding])
    )
    skill = ParseDict({"skill": "incident/region-failover"}, Struct())
    message = Message(
        message_id=str(uuid.uuid4()), role=Role.ROLE_USER, metadata=skill, parts=[Part(data=ParseDict(INPUTS, Value()))]
    )
    kinds = []
    task_id = None
    async for update in client.send_message(SendMessageRequest(message=message)):
        kinds.append(update.WhichOneof("payload"))
        if kinds[-1] == "task":
            task_id = update.task.id
    task = await client.get_task(GetTaskRequest(id=task_id))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED, task.status
    names = [artifact.name for artifact in task.artifacts]
    assert names == ["decision", "receipt", "seal"], names
    if streaming:
        assert kinds[0] == "task" and kinds[-1] == "status_update" and kinds.count("artifact_update") == 3, kinds
    page = await client.list_tasks(ListTasksRequest(page_size=1, status=TaskState.TASK_STATE_COMPLETED))
    assert page.tasks[0].id == task_id and page.total_size >= 1
    try:
        await client.get_task(GetTaskRequest(id=str(uuid.uuid4())))
        raise SystemExit("an unknown task was found")
    except TaskNotFoundError:
        pass
    await client.close()
    print(f"python: {binding}, {'stream' if streaming else 'answer'}: {len(kinds)} objects", flush=True)


async def main(url):
    for binding in ("JSONRPC", "HTTP+JSON"):
        for streaming in (True, False):
            await ask(url, binding, streaming)


asyncio.run(main(sys.argv[1]))
