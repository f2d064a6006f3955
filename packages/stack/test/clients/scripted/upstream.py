"""An MCP server with one tool, which the gate guards."""

import asyncio

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool


async def list_tools(_context, _params):
    return ListToolsResult(tools=[Tool(name="write_file", input_schema={"type": "object"})])


async def call_tool(_context, params):
    return CallToolResult(content=[TextContent(type="text", text=f"wrote {params.arguments['path']}")])


async def main():
    server = Server("files", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
