import { execFile } from "node:child_process"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { baseUrl, call, layerTestService } from "../../support/HttpService.ts"

const ROOT = join(import.meta.dirname, "../../../../..")

/** Runs the TypeScript of a page as it is printed, and returns its run by its name. */
const runOf = Effect.fnUntraced(function* (page: string, name: string) {
  const text = readFileSync(join(ROOT, page), "utf8")
  const [, code = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? []
  const folder = yield* temporaryFolder
  symlinkSync(join(ROOT, "packages/server/node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), '{"type":"module"}')
  writeFileSync(join(folder, "telemetry.ts"), readFileSync(join(import.meta.dirname, "guideTelemetry.mjs")))
  writeFileSync(join(folder, "guide.ts"), code)
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: yield* baseUrl }
  yield* Effect.promise(() => promisify(execFile)(process.execPath, ["guide.ts"], { cwd: folder, env }))
  const query = encodeURIComponent(`metadata.scenarioRef:"${name}" status:completed`)
  const { body } = yield* until(call("GET", `/runs?q=${query}`), ({ body }) => body.data.length > 0)
  return body.data[0]
})

layer(layerTestService({ settings: { OTLP_SETTLE_MS: "300" } }), { excludeTestServices: true })("the guide", (it) => {
  it.effect("without a framework makes a run with agents, a priced model call and a tool", () =>
    Effect.gen(function* () {
      const run = yield* runOf("docs/guides/opentelemetry/plain.md", "desk")
      const state = yield* call("GET", `/runs/${run.id}/state`)
      const tools = yield* call("GET", `/runs/${run.id}/events?type=tool.completed`)
      assert.deepStrictEqual(
        state.body.participants.map(({ participantId }: { readonly participantId: string }) => participantId),
        ["desk", "billing"]
      )
      assert.deepInclude(run.metadata, { totalTokens: 852, models: ["gpt-5-mini"] })
      assert.isAbove(run.usage.estimatedCostUsd, 0)
      assert.deepInclude(tools.body.data[0].data, { name: "find_invoice", sender: "billing", ok: true })
    })
  )

  it.effect("of decisions makes a run whose votes carry its decision", () =>
    Effect.gen(function* () {
      const run = yield* runOf("docs/guides/opentelemetry/decisions.md", "ship release 2.4?")
      const { body } = yield* call("GET", `/runs/${run.id}/decision/why`)
      assert.deepInclude(body, { participants: ["lead", "security", "sre"], policyVersion: "policy.std.supermajority" })
      assert.deepInclude(body.outcome, { action: "ship", positive: true, by: "lead", reason: "2 of 2" })
      assert.deepStrictEqual(
        body.claims.map(({ kind }: { readonly kind: string }) => kind),
        ["proposal", "vote", "vote", "commitment"]
      )
    })
  )
})
