import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import { TestClock } from "effect/testing"
import { layerAlertRegistration } from "../../src/control-plane/AlertRegistration.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const budget = (id: string, more = "") => `
- id: ${id}
  name: Budget of ${id}
  per: all
  window: month
  measure: costUsd
  levels:
    - { at: 80, severity: warning, actions: [] }
${more}`

const on: LauncherOptions = {
  packsDir: "/packs",
  controlPlane: { url: "http://plane.test", timeoutMs: 5_000, apiKey: undefined }
}

/** The stored rule, as the control plane answers it. */
const stored = (id: string) =>
  json(201, {
    ...{ id, name: `Budget of ${id}`, enabled: true, match: "", per: "all", window: "month", zone: "UTC" },
    ...{ measure: "costUsd", levels: [{ at: 80, severity: "warning", actions: [] }] },
    ...{ createdAt: "2026-07-01T10:00:00.000Z", updatedAt: "2026-07-01T10:00:00.000Z" }
  })

/** The registration of these files; `calls` has each call as it is made, `lines` each line of the log. */
const register = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>>,
  answers: ReadonlyArray<Response>,
  options = on
) {
  const calls = yield* Queue.unbounded<StubRequest>()
  const lines = yield* Queue.unbounded<string>()
  let next = 0
  const http = stubHttp((request) => Effect.as(Queue.offer(calls, request), (answers[next++] ?? stored("any")).clone()))
  const logger = Logger.make(({ message }) => void Queue.offerUnsafe(lines, String(message)))
  yield* Layer.build(
    layerAlertRegistration.pipe(
      Layer.provide([http, memoryFiles(files), settingsLayer(options)]),
      Layer.provide(Logger.layer([logger]))
    )
  )
  return { calls, lines }
})

describe("registration of the packs' alert rules", () => {
  it.effect("adds the rules of each pack, and leaves out a broken one alone", () =>
    Effect.gen(function* () {
      const { calls, lines } = yield* register(
        {
          "/packs/b/alerts.yaml": `${budget("second")}\n- id: broken\n  levels: []\n${budget("unfit", "  resolveBelow: 90\n")}`,
          "/packs/a/alerts.yaml": budget("first", "  zone: Europe/Berlin\n"),
          "/packs/_shared/alerts.yaml": budget("shared"),
          "/packs/c/pack.yaml": "name: c"
        },
        [stored("first"), json(409, { statusCode: 409, errorCode: "CONFLICT", message: "there is one" })]
      )
      const [first, second] = yield* Queue.takeN(calls, 2)
      assert.deepInclude(first, { method: "POST", url: "http://plane.test/alerts/rules" })
      assert.deepInclude(first?.body, { id: "first", zone: "Europe/Berlin", enabled: true })
      assert.deepInclude(second?.body, { id: "second", zone: "UTC" })
      const [broken, unfit, ...done] = yield* Queue.takeN(lines, 4)
      assert.match(broken ?? "", /^b\/alerts\.yaml rule 2 left out: .*name/)
      assert.strictEqual(unfit, "b/alerts.yaml rule 3 left out: resolveBelow must not be greater than levels.0.at")
      assert.deepStrictEqual(done, ["alert rule first is stored", "alert rule second exists already"])
    })
  )

  // docs/reference/packs.md#alert-rules
  it.effect("adds the rule that the document of packs shows", () =>
    Effect.gen(function* () {
      const document = readFileSync(new URL("../../../../docs/reference/packs.md", import.meta.url), "utf8")
      const [block = ""] = /^ {4}- id: my-team-budget\n(?: {4}.*\n)*/m.exec(document) ?? []
      const { calls } = yield* register({ "/packs/a/alerts.yaml": block.replaceAll(/^ {4}/gm, "") }, [])
      const { body } = yield* Queue.take(calls)
      assert.deepInclude(body, { id: "my-team-budget", match: "tags:my-team", zone: "Europe/Berlin" })
    })
  )

  it.effect("tries again until the control plane answers, and warns once", () =>
    Effect.gen(function* () {
      const down = json(503, { statusCode: 503, errorCode: "SERVICE_UNAVAILABLE", message: "down" })
      const { calls, lines } = yield* register({ "/packs/a/alerts.yaml": budget("first") }, [down, down])
      yield* Queue.take(calls)
      yield* TestClock.adjust("1 minute")
      yield* Queue.takeN(calls, 2)
      assert.include(yield* Queue.take(lines), "is not stored at http://plane.test yet, trying again")
      assert.strictEqual(yield* Queue.take(lines), "alert rule first is stored")
    })
  )

  it.effect("logs a refusal, and calls nothing without a control plane", () =>
    Effect.gen(function* () {
      const forbidden = json(403, { statusCode: 403, errorCode: "FORBIDDEN", message: "needs the role admin" })
      const { lines } = yield* register({ "/packs/a/alerts.yaml": budget("first") }, [forbidden])
      assert.match(yield* Queue.take(lines), /alert rule first of the packs was refused: needs the role admin/)
      for (const options of [
        { ...on, controlPlane: undefined },
        { ...on, registerPolicies: false }
      ]) {
        const { calls } = yield* register({ "/packs/a/alerts.yaml": budget("first") }, [], options)
        assert.strictEqual(yield* Queue.size(calls), 0)
      }
    })
  )
})
