import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { freePorts, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { blocksOf } from "./support/DocumentBlocks.ts"
import { startServing } from "./support/StackRuns.ts"
import { packsWith } from "./support/TestPacks.ts"

const headers = { headers: { "content-type": "application/json" } }
const SCENARIO = "incident/region-failover@1.0.0"
const SHADOW = "impact-analyst~security-agent"

/** The lines of the block of a document that begins with `first`. */
const documented = (document: string, first: string): ReadonlyArray<string> =>
  blocksOf(document).find(({ lines }) => lines[0] === first)?.lines ?? assert.fail(`${document} has no ${first}`)

/** As members of `launch`. */
const indented = (lines: ReadonlyArray<string>) => lines.map((line) => `    ${line}`)

/** The packs, with an agent that is tried beside the impact analyst. */
const shadowedPacks = Effect.gen(function* () {
  const packs = yield* packsWith({})
  const file = join(packs, "incident/scenarios/region-failover/1.0.0/scenario.yaml")
  const text = readFileSync(file, "utf8")
  const entries = documented("docs/reference/packs.md", "shadows:")
  const launch = ["spec:", "  launch:", ...indented(entries)]
  assert.deepStrictEqual(documented("docs/reference/shadows.md", "spec:"), launch)
  writeFileSync(file, text.replace("\n  launch:\n", `\n  launch:\n${indented(entries).join("\n")}\n`))
  return packs
})

layer(Layer.empty, { excludeTestServices: true })("a shadow of an example scenario", (it) => {
  it.effect("votes beside its participant, with its cost apart from the cost of the run", () =>
    Effect.gen(function* () {
      const [controlPlane = 0] = yield* freePorts(1)
      const url = `http://127.0.0.1:${controlPlane}`
      const { ports } = yield* startServing({
        CONTROL_PLANE_PORT: String(controlPlane),
        OTLP_GRPC_PORT: "0",
        OTLP_SETTLE_MS: "500",
        PACKS_DIR: yield* shadowedPacks,
        HOST_ENV_ALLOW: "OTEL_EXPORTER_OTLP_ENDPOINT",
        OTEL_EXPORTER_OTLP_ENDPOINT: url
      })
      const launched = yield* request("POST", `http://127.0.0.1:${ports.launcher}/examples/run`, {
        body: { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true, telemetry: { sources: [] } },
        ...headers
      })
      assert.strictEqual(launched.status, 201, launched.text)
      const run: string = launched.body.controlPlaneRun.runId
      yield* until(request("GET", `${url}/runs/${run}`, headers), ({ body }) => body.status === "completed")
      const eventsOf = (type: string) =>
        Effect.map(request("GET", `${url}/runs/${run}/events?type=${type}&limit=200`, headers), ({ body }) => body.data)
      const artifacts = yield* until(request("GET", `${url}/runs/${run}/artifacts`, headers), ({ body }) =>
        body.some(({ label }: { readonly label: string }) => label === SHADOW)
      )
      const { inline, kind } = artifacts.body.find(({ label }: { readonly label: string }) => label === SHADOW)
      assert.strictEqual(kind, "shadow.acts")
      assert.deepInclude(inline, { status: "acted", as: "impact-analyst", agent: "security-agent", leftOut: 0 })
      const types = inline.acts.map(({ messageType }: { readonly messageType: string }) => messageType)
      assert.include(types, "Vote")
      // The session has the messages of its own participants alone: no sender and no message is of the shadow.
      const messages = yield* eventsOf("message.received")
      const sent = messages.map(({ data }: { readonly data: { readonly messageId: string } }) => data.messageId)
      for (const { messageId } of inline.acts) assert.notInclude(sent, messageId)
      const calls = yield* until(eventsOf("llm.call.completed"), (found) =>
        found.some(({ data }: { readonly data: { readonly sender: string } }) => data.sender === SHADOW)
      )
      for (const { data } of calls.filter(
        ({ data }: { readonly data: { sender: string } }) => data.sender === SHADOW
      )) {
        assert.strictEqual(data.counted, false)
        assert.isAbove(data.shadow.totalTokens, 0)
      }
    })
  )
})
