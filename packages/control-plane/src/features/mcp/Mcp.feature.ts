import type { Feature } from "../../Feature.ts"
import { mcpRoutes } from "./McpHttp.ts"

/** The tools of assistants at `POST /mcp` (docs/reference/mcp.md). */
export const mcp = { name: "mcp", tables: ["mcp_secret", "mcp_used_tokens"], rawRoutes: mcpRoutes } satisfies Feature
