import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { RunRecords } from "../../src/control-plane/RunRecords.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"
const record = {
  sessionId: SESSION,
  kind: "people.item",
  label: "Question to officer, opened",
  idempotencyKey: "people.item:i1:opened",
  content: { v: 1 }
}

const withPlane = (answer: Effect.Effect<Response>) => {
  const requests: Array<StubRequest> = []
  const http = stubHttp((request) => {
    requests.push(request)
    return answer
  })
  const controlPlane = { url: "http://plane.test", timeoutMs: 5_000, apiKey: Redacted.make("key-1") }
  return {
    requests,
    layer: RunRecords.layer.pipe(Layer.provide(http), Layer.provide(settingsLayer({ controlPlane })))
  }
}

const post = Effect.flatMap(RunRecords, (records) => records.post(record))
const message = Effect.flatMap(RunRecords, (records) => records.message(SESSION, "m/1"))

describe("records at the control plane", () => {
  it.effect("are posted to the run of the session, with the key of the service and of the record", () => {
    const { layer, requests } = withPlane(Effect.sync(() => json(201, { id: "a1" })))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* post, { _tag: "kept" })
      assert.deepInclude(requests[0], { method: "POST", url: `http://plane.test/runs/${SESSION}/artifacts` })
      assert.strictEqual(requests[0]?.headers["authorization"], "Bearer key-1")
      assert.deepStrictEqual(requests[0]?.body, {
        kind: "people.item",
        label: "Question to officer, opened",
        inline: { v: 1 },
        idempotencyKey: "people.item:i1:opened"
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    [400, "never"],
    [413, "never"],
    [401, "refused"],
    [403, "refused"],
    [404, "refused"],
    [409, "refused"],
    [408, "away"],
    [429, "away"],
    [500, "away"],
    [503, "away"]
  ] as const)("with the answer %s are %s", ([status, outcome]) => {
    const { layer } = withPlane(Effect.sync(() => json(status, { message: "because" })))
    return Effect.gen(function* () {
      const posted = yield* post
      assert.strictEqual(posted._tag, outcome)
      assert.match("reason" in posted ? posted.reason : "", new RegExp(`^it answered ${status}: .*because`))
    }).pipe(Effect.provide(layer))
  })

  it.effect("without an answer in time are tried later", () => {
    const { layer } = withPlane(Effect.never)
    return Effect.gen(function* () {
      const posting = yield* Effect.forkChild(post)
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual((yield* Fiber.join(posting))._tag, "away")
    }).pipe(Effect.provide(layer))
  })

  it.effect("without a control plane are never taken, and nothing is found", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* post, {
        _tag: "never",
        reason: "no control plane is configured: PROTO_CONTROL_PLANE_URL is not set"
      })
      assert.isUndefined(yield* message)
    }).pipe(Effect.provideService(RunRecords, RunRecords.none))
  )
})

describe("a message in the log of the control plane", () => {
  it.effect("is read by its id", () => {
    const found = { sender: "officer", ordinal: 7, payloadSha256: "1a2b", messageId: "m/1", messageType: "Vote" }
    const { layer, requests } = withPlane(Effect.sync(() => json(200, found)))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* message, { sender: "officer", ordinal: 7, payloadSha256: "1a2b" })
      assert.strictEqual(requests[0]?.url, `http://plane.test/runs/${SESSION}/messages/m%2F1`)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is undefined for an unknown run or message", () => {
    const { layer } = withPlane(Effect.sync(() => json(404, {})))
    return Effect.provide(Effect.map(message, assert.isUndefined), layer)
  })

  it.effect.each([403, 500])("is not known after the answer %s", (status) => {
    const { layer } = withPlane(Effect.sync(() => json(status, {})))
    return Effect.gen(function* () {
      assert.include((yield* Effect.flip(message)).message, `it answered ${status}`)
    }).pipe(Effect.provide(layer))
  })
})
