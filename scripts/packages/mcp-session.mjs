/** A session of revision 2025-06-18 lives in one of the two processes; another one does not know it. */
export const sessionOfMcp = async (url, key) => {
  const send = (id, message, session = {}) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...session
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, ...message })
    })
  const version = "2025-06-18"
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "rehearsal", version: "0" } }
  const begun = await send(0, { method: "initialize", params })
  const id = begun.headers.get("mcp-session-id")
  if (begun.status !== 200 || id === null) throw new Error(`initialize: ${begun.status} ${await begun.text()}`)
  for (let number = 1; number <= 20; number++) {
    const session = { "mcp-session-id": id, "mcp-protocol-version": version }
    const { status } = await send(number, { method: "ping", params: {} }, session)
    if (status !== 200) throw new Error(`request ${number} of a session of MCP: ${status}`)
  }
}
