import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"

const RUNPLANE = fileURLToPath(new URL("../../src/runplane/main.ts", import.meta.url))

/** `runplane mcp` on a running stack with that run, by the official client. */
export const checkMcp = Effect.fnUntraced(function* (
  ports: { readonly controlPlane: number; readonly launcher: number },
  runId: string
) {
  const urls = [`http://127.0.0.1:${ports.controlPlane}`, `http://127.0.0.1:${ports.launcher}`] as const
  const args = [RUNPLANE, "--url", urls[0], "--launcher-url", urls[1], "mcp"]
  const client = yield* Effect.acquireRelease(
    Effect.sync(
      () => new Client({ name: "stdio", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
    ),
    (client) => Effect.promise(() => client.close())
  )
  const answers = yield* Effect.promise(async () => {
    await client.connect(new StdioClientTransport({ command: process.execPath, args }))
    const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input })
    return [
      await call("run_get", { runId }),
      await call("scenarios_search", { q: "region-failover" }),
      await call("scenario_launch", { scenarioRef: "incident/region-failover@1.0.0", inputs: {}, templateId: null }),
      await call("runs_search", { query: "status:failed" })
    ]
  })
  const [run, scenarios, launch] = answers.map(({ structuredContent }) => JSON.stringify(structuredContent))
  assert.include(run, `"id":"${runId}"`)
  assert.include(scenarios, '"scenarioRef":"incident/region-failover@1.1.0"')
  assert.include(launch, '"state":"confirm"')
  assert.include(JSON.stringify(answers.at(-1)?.content), "unknown argument")
}, Effect.scoped)
