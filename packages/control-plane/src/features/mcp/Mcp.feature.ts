import type { Feature } from "../../Feature.ts"

/** The tools of assistants at `POST /mcp` (docs/reference/mcp.md). Its routes are with the other handlers. */
export const mcp = { name: "mcp", tables: ["mcp_secret", "mcp_used_tokens"] } satisfies Feature
