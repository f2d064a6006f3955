import * as McpServer from "effect/ai/McpServer"
import type { Backend } from "./Backend.ts"
import { registrations, serverOptions } from "./Server.ts"

/** The server at `POST /mcp`. The router in front of it authenticates and provides `CurrentCaller`. */
export const layerMcpHttp = (backend: Backend) =>
  McpServer.layerHttp({
    ...serverOptions,
    path: "/mcp",
    allowSessionTermination: true,
    registrations: registrations(backend)
  })
