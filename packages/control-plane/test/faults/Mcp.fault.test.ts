import { createServer, request as sendRequest } from "node:http"
import { assert, it } from "@effect/vitest"
import { createDatabase, onLoopback, request } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { CURRENT, connect, PREVIOUS } from "../features/mcp/Clients.ts"
import { descriptor } from "../support/HttpService.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { startService } from "./support/ServiceProcess.ts"

const SESSION = "mcp-session-id"

/** A proxy that sends requests to the processes in turn, but those of one MCP session to one of them. */
const startProxy = Effect.fnUntraced(function* (urls: ReadonlyArray<string>) {
  const served = urls.map(() => 0)
  const homes = new Map<string, number>()
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const session = incoming.headers[SESSION]
    turn += 1
    const index = (typeof session === "string" ? homes.get(session) : undefined) ?? turn % urls.length
    served[index] = (served[index] ?? 0) + 1
    const target = new URL(incoming.url ?? "/", urls[index])
    const upstream = sendRequest(target, { method: incoming.method, headers: incoming.headers }, (answer) => {
      const begun = answer.headers[SESSION]
      if (typeof begun === "string") homes.set(begun, index)
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    upstream.on("error", () => outgoing.destroy())
    outgoing.on("close", () => upstream.destroy())
    incoming.pipe(upstream)
  })
  const port = yield* onLoopback(server, () => server.closeAllConnections())
  return { url: `http://127.0.0.1:${port}`, served }
})

// docs/reference/mcp.md#processes
it.live(
  "two processes behind a proxy serve both revisions, and one accepts the confirmations of the other once",
  () =>
    Effect.gen(function* () {
      const runtime = yield* ScriptedRuntime.start
      const settings = { DATABASE_URL: yield* createDatabase, RUNTIME_ADDRESS: runtime.address, DB_POOL_MAX: "4" }
      const processes = yield* Effect.all([startService(settings), startService(settings)], { concurrency: 2 })
      const urls = yield* Effect.forEach(processes, ({ url }) => url)
      const proxy = yield* startProxy(urls)
      const { body } = yield* request("POST", `${proxy.url}/runs`, {
        body: descriptor({ runtime: { kind: "rust" }, session: { metadata: { cancellationDelegated: true } } })
      })
      assert.isString(body.runId)

      for (const revision of [CURRENT, PREVIOUS] as const) {
        const { call } = yield* connect(proxy.url, { revision })
        for (let round = 0; round < 4; round += 1) {
          assert.strictEqual((yield* call("run_get", { runId: body.runId })).content.id, body.runId)
        }
      }
      for (const count of proxy.served) assert.isAbove(count, 1)

      const [first = "", second = ""] = urls
      const [one, other] = [yield* connect(first), yield* connect(second)]
      const step = yield* one.call("run_cancel", { runId: body.runId })
      assert.strictEqual(step.content.state, "confirm", step.text)
      const confirmed = { runId: body.runId, confirmToken: step.content.confirmToken }
      const answers = yield* Effect.all([one.call("run_cancel", confirmed), other.call("run_cancel", confirmed)], {
        concurrency: 2
      })
      // The runtime of the test cannot cancel, so the run stays as it was.
      const [acted, refused] = answers
        .map(({ text }) => text)
        .toSorted()
        .toReversed()
      assert.match(String(acted), /^NOT_IMPLEMENTED/)
      assert.strictEqual(refused, "CONFIRMATION_REFUSED: the token was used before")
    }).pipe(Effect.scoped),
  60_000
)
