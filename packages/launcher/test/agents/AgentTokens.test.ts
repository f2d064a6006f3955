import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { AgentTokens, type TokenRequest } from "../../src/agents/AgentTokens.ts"
import type { AuthSettings } from "../../src/LauncherSettings.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const auth: AuthSettings = {
  url: "http://auth.test",
  timeoutMs: 5_000,
  tokenTtlSeconds: 3_600,
  scopeOverrides: {}
}
const request = (changes: Partial<TokenRequest> = {}): TokenRequest => ({
  participantId: "lead",
  modeName: "macp.mode.decision.v1",
  isInitiator: true,
  minLifeMs: 60_000,
  ...changes
})

/** Tokens over an auth service that answers by a function and records what it was asked. */
const withAuth = (answer: (calls: number) => Effect.Effect<Response>, settings: AuthSettings | "none" = auth) => {
  const asked: Array<StubRequest> = []
  const http = stubHttp((call) => Effect.suspend(() => answer(asked.push(call))))
  const layer = AgentTokens.layer.pipe(
    Layer.provide(http),
    Layer.provide(settingsLayer({ auth: settings === "none" ? undefined : settings }))
  )
  return { asked, layer }
}
const tokens =
  (lifeSeconds: unknown = 3_600) =>
  (calls: number) =>
    Effect.succeed(json(200, { token: `t${calls}`, sender: "lead", expires_in_seconds: lifeSeconds }))

const tokenFor = (changes: Partial<TokenRequest> = {}) =>
  Effect.flatMap(AgentTokens, (service) => service.tokenFor(request(changes)))

describe("agent tokens", () => {
  it.effect("without an auth service are the participant's development credential", () => {
    const { asked, layer } = withAuth(tokens(), "none")
    return Effect.gen(function* () {
      assert.strictEqual(yield* tokenFor(), "lead")
      assert.lengthOf(asked, 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("are minted with the scopes of an initiator or of a member", () => {
    const { asked, layer } = withAuth(tokens())
    return Effect.gen(function* () {
      assert.strictEqual(yield* tokenFor(), "t1")
      yield* tokenFor({ participantId: "one", isInitiator: false })
      assert.deepInclude(asked[0], { method: "POST", url: "http://auth.test/tokens" })
      const scopes = (canStart: boolean) => ({
        allowed_modes: ["macp.mode.decision.v1", ""],
        can_start_sessions: canStart,
        is_observer: false
      })
      assert.deepStrictEqual(
        asked.map((call) => call.body),
        [
          { sender: "lead", ttl_seconds: 3_600, scopes: scopes(true) },
          { sender: "one", ttl_seconds: 3_600, scopes: scopes(false) }
        ]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("send no message when they only suspend and resume", () => {
    const { asked, layer } = withAuth(tokens())
    return Effect.gen(function* () {
      yield* tokenFor({ isInitiator: false, isControl: true, minLifeMs: 0 })
      assert.deepStrictEqual(asked[0]?.body, {
        sender: "lead",
        ttl_seconds: 3_600,
        scopes: { allowed_modes: [], can_start_sessions: false, is_observer: false }
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("take scopes replaced or removed for their sender", () => {
    const { asked, layer } = withAuth(tokens(), {
      ...auth,
      scopeOverrides: { lead: { is_observer: null, max_open_sessions: 2, ranks: [10, 9, 10, "b", "a"] } }
    })
    return Effect.gen(function* () {
      yield* tokenFor()
      assert.deepStrictEqual(asked[0]?.body, {
        sender: "lead",
        ttl_seconds: 3_600,
        scopes: {
          allowed_modes: ["macp.mode.decision.v1", ""],
          can_start_sessions: true,
          max_open_sessions: 2,
          ranks: [10, 9, 10, "b", "a"]
        }
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("are reused until ten seconds before their end", () => {
    const { asked, layer } = withAuth(tokens(100))
    return Effect.gen(function* () {
      yield* tokenFor({ minLifeMs: 1 })
      yield* TestClock.adjust("89 seconds")
      assert.strictEqual(yield* tokenFor({ minLifeMs: 1 }), "t1")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* tokenFor({ minLifeMs: 1 }), "t2")
      assert.lengthOf(asked, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("are not reused when they would end before the session", () => {
    const { layer } = withAuth(tokens(100))
    return Effect.gen(function* () {
      yield* tokenFor({ minLifeMs: 90_000 })
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* tokenFor({ minLifeMs: 90_000 }), "t2")
      assert.strictEqual(yield* tokenFor({ minLifeMs: 200_000 }), "t2")
    }).pipe(Effect.provide(layer))
  })

  it.effect("that cannot last as long as the session are given out with a warning", () => {
    const { layer } = withAuth(tokens(100))
    const warnings: Array<string> = []
    const logger = Logger.make(({ message }) => void warnings.push(String(message)))
    return Effect.gen(function* () {
      yield* tokenFor({ minLifeMs: 100_000 })
      assert.deepStrictEqual(warnings, [])
      yield* tokenFor({ minLifeMs: 200_000 })
      assert.deepStrictEqual(warnings, ["the token of lead lives for 100 s and its session for up to 200 s"])
    }).pipe(Effect.provide([layer, Logger.layer([logger])]))
  })

  it.effect("are minted once for simultaneous requests", () => {
    const { asked, layer } = withAuth(tokens())
    return Effect.gen(function* () {
      const all = yield* Effect.all([tokenFor(), tokenFor(), tokenFor()], { concurrency: "unbounded" })
      assert.deepStrictEqual(all, ["t1", "t1", "t1"])
      assert.lengthOf(asked, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    ["a refusal", json(403, { error: "no" }), "auth-service returned 403", 403],
    ["a body that is not JSON", json(200, "<html>"), /^auth-service response parse failed: /, undefined],
    ["a body without a token", json(200, { sender: "lead" }), "auth-service response missing token", undefined],
    ["an empty token", json(200, { token: "" }), "auth-service response missing token", undefined]
  ] as const)("fail on %s", ([, response, message, status]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(tokenFor())
      if (typeof message === "string") assert.strictEqual(error.message, message)
      else assert.match(error.message, message)
      assert.deepStrictEqual(error.metadata, status === undefined ? undefined : { status })
    }).pipe(Effect.provide(withAuth(() => Effect.succeed(response)).layer))
  )

  it.effect("fail when the auth service does not answer in time, and are requested again afterwards", () => {
    const { layer } = withAuth((calls) => (calls === 1 ? Effect.never : tokens()(calls)))
    return Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(Effect.flip(tokenFor()))
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(waiting)
      assert.match(error.message, /^auth-service request failed: /)
      assert.strictEqual(yield* tokenFor(), "t2")
    }).pipe(Effect.provide(layer))
  })

  it.effect("are renewed before they end, for as long as the stream is read, also after failures", () => {
    let failures = 0
    const { asked, layer } = withAuth((calls) =>
      calls === 3 && failures++ === 0 ? Effect.succeed(json(500, {})) : tokens(90)(calls)
    )
    return Effect.gen(function* () {
      const service = yield* AgentTokens
      assert.strictEqual(yield* tokenFor(), "t1")
      const got: Array<string> = []
      yield* Effect.forkChild(
        Stream.runForEach(service.renewals(request()), (token) => Effect.sync(() => void got.push(token)))
      )
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual([got, asked.length], [[], 1])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(got, ["t2"])
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(got, ["t2"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(got, ["t2", "t4"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("are not renewed where names are credentials", () => {
    const { layer } = withAuth(tokens(), "none")
    return Effect.gen(function* () {
      const service = yield* AgentTokens
      const first = yield* Effect.forkChild(Stream.runHead(service.renewals(request())))
      yield* TestClock.adjust("1 day")
      assert.isUndefined(first.pollUnsafe())
    }).pipe(Effect.provide(layer))
  })
})
