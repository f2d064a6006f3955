import { randomInt } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { tools } from "@runplane/mcp"
import { type Chance, chanceOf, request } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { hostileJson, hostileText, jsonTextOf, mutated } from "../../contract/HostileValues.ts"
import { decided } from "../../support/Committee.ts"
import { baseUrl, layerTestService } from "../../support/HttpService.ts"
import { CURRENT, PREVIOUS } from "./Clients.ts"

/** Calls of one test run; `MCP_FUZZ_CALLS=5000` is the long form. */
const CALLS = Number(process.env["MCP_FUZZ_CALLS"] || 200)
/** Gives the calls of an earlier test run again. */
const SEED = Number(process.env["MCP_FUZZ_SEED"] || randomInt(2 ** 31))
/** Some calls wait for seconds. */
const CONCURRENCY = 32
/** Share of the calls that a tool answers. */
const LEAST_ANSWERED = 0.1
const TIME_LIMIT_MS = 60_000 + CALLS * 100

const majority = { mode: "macp.mode.decision.v1", rules: { voting: { algorithm: "majority", threshold: 0.6 } } }

/** Inputs that each tool accepts; waits are short. */
const inputsOf = (runId: string): Readonly<Record<string, Record<string, unknown>>> => ({
  runs_search: { q: "status:failed OR cost:>0", sort: "-cost", limit: 3 },
  run_story: { runId, sinceIndex: 2 },
  run_events: { runId, types: ["proposal.updated"], afterSeq: 1, limit: 5 },
  run_wait: { runId, timeoutMs: 1 },
  fleet_tail: { afterSeq: 0, q: "type:run.created", timeoutMs: 1, limit: 3 },
  decision_explain: { runId, format: "record" },
  decision_forecast: { runId, atSeq: 4 },
  decision_what_if: {
    runId,
    votes: [{ participantId: "agent://risk", vote: "REJECT" }],
    policy: { ...majority, schemaVersion: 3 }
  },
  runs_compare: { left: runId, right: runId },
  stability: { q: "tags:nightly", scenarioRef: "a/b@1.0.0", since: "2026-07-01" },
  cost_summary: { q: "events:>1", groupBy: "day" },
  health: {},
  policies_list: { mode: "macp.mode.decision.v1" },
  policy_get: { policyId: "p" },
  policy_backtest: { policy: majority, scope: { tags: ["nightly"], limit: 10 } },
  policy_register: { policyId: "p.fuzz", ...majority },
  mark_add: { runId, name: "quality", value: 0.5, comment: "why" }
})

const METHODS = ["tools/call", "tools/list", "resources/read", "prompts/get", "completion/complete", "server/discover"]

/** One request: mostly a call of a tool, whose parts are changed here and there. */
const hostileCall = (runId: string, chance: Chance) => {
  const { name } = chance.pick(tools)
  const fitting = inputsOf(runId)[name] ?? { runId }
  const method = chance.happens(0.8) ? "tools/call" : chance.happens(0.8) ? chance.pick(METHODS) : hostileText(chance)
  const version = chance.happens(0.85) ? CURRENT : chance.pick([PREVIOUS, "2025-06-18", "1.0", ""])
  const params = {
    name,
    uri: `runplane://runs/${runId}${chance.pick(["", "/state", "/events?afterSeq=x", `/${hostileText(chance).slice(0, 500)}`])}`,
    arguments: chance.happens(0.4) ? fitting : chance.happens(0.9) ? mutated(fitting, chance) : hostileJson(chance),
    ref: { type: "ref/resource", uri: "runplane://runs/{id}" },
    argument: { name: "id", value: hostileText(chance) },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: chance.happens(0.9) ? "fuzz" : hostileText(chance), version: "1" },
      "io.modelcontextprotocol/clientCapabilities": chance.happens(0.9) ? {} : { elicitation: {} }
    }
  }
  const message = { jsonrpc: "2.0", id: chance.pick([1, "a", 0]), method, params }
  const body = jsonTextOf(chance.happens(0.9) ? message : mutated(message, chance))
  const header = (text: string) => (/^[\x21-\x7e]+$/.test(text) ? text : "x")
  const headers = {
    accept: "application/json, text/event-stream",
    // The server closes idle connections, and fetch does not send a POST again.
    connection: "close",
    "mcp-protocol-version": header(version),
    "mcp-method": header(method),
    "mcp-name": method === "resources/read" ? `=?base64?${Buffer.from(params.uri).toString("base64")}?=` : name
  }
  return { headers, body: chance.happens(0.97) ? body : body.slice(0, chance.below(body.length)) }
}

/** JSON-RPC's code for a failure of the server. */
const INTERNAL_ERROR = -32_603

// docs/reference/mcp.md
layer(layerTestService({ settings: { LOG_LEVEL: "error", MCP_MAX_CONCURRENCY: "32" } }), { excludeTestServices: true })(
  "no call over MCP",
  (it) => {
    it.effect(
      `is answered with a failure of the service (${CALLS} calls, MCP_FUZZ_SEED=${SEED})`,
      () =>
        Effect.gen(function* () {
          const runId = yield* decided
          const url = `${yield* baseUrl}/mcp`
          let answered = 0
          const send = Effect.fnUntraced(function* (number: number) {
            const call = hostileCall(runId, chanceOf(SEED, number))
            const { body, status, text } = yield* request("POST", url, call)
            const shown = `call ${number}: ${JSON.stringify(call).slice(0, 1_000)} -> ${status} ${text.slice(0, 500)}`
            assert.isBelow(status, 500, shown)
            assert.notStrictEqual(body?.error?.code, INTERNAL_ERROR, shown)
            assert.notMatch(text, /internal server error|INTERNAL_ERROR|"HTTP_5|"FAILED: /, shown)
            if (status === 200 && body?.result?.isError !== true && body?.error === undefined) answered += 1
          })
          yield* Effect.forEach(
            Array.from({ length: CALLS }, (_, number) => number),
            send,
            { concurrency: CONCURRENCY, discard: true }
          )
          assert.isAtLeast(answered, CALLS * LEAST_ANSWERED)
        }),
      TIME_LIMIT_MS
    )
  }
)
