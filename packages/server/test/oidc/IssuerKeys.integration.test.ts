import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import {
  KEYS_STALE_MS,
  KEYS_TTL_MS,
  MAX_ANSWER_BYTES,
  makeIssuerKeys,
  RETRY_MS,
  UNKNOWN_KEY_MS
} from "../../src/oidc/IssuerKeys.ts"
import { type Mischief, makeIssuer } from "../support/FakeIssuer.ts"

const said: Array<string> = []
const layerLog = Logger.layer([Logger.make(({ message }) => void said.push(String(message)))])

const world = Effect.gen(function* () {
  said.length = 0
  const issuer = yield* makeIssuer
  const key = yield* issuer.makeKey()
  const fetches = () => issuer.paths.filter((path) => path === "/keys").length
  const has = (find: Effect.Success<Effect.Success<ReturnType<typeof makeIssuerKeys>>["current"]>, kid: string) =>
    Effect.promise(() =>
      Promise.resolve(find({ alg: "ES256", kid }, { payload: "", signature: "" })).then(
        () => true,
        () => false
      )
    )
  return { issuer, key, fetches, has }
})

const away: Mischief = (_path, response) => {
  response.statusCode = 500
  response.end()
  return true
}

describe("the keys of an issuer", () => {
  it.effect("are fetched once and used for ten minutes", () =>
    Effect.gen(function* () {
      const { fetches, issuer } = yield* world
      const keys = yield* makeIssuerKeys(issuer.url)
      yield* Effect.all([keys.current, keys.current, keys.current], { concurrency: "unbounded" })
      yield* TestClock.adjust(KEYS_TTL_MS - 1)
      yield* keys.current
      assert.strictEqual(fetches(), 1)
      assert.deepStrictEqual(said, [])
    }).pipe(Effect.provide(layerLog))
  )

  it.effect("are fetched again for a token of a new one, and not for every made-up one", () =>
    Effect.gen(function* () {
      const { fetches, has, issuer } = yield* world
      const keys = yield* makeIssuerKeys(issuer.url)
      const first = yield* keys.current
      const rotated = yield* issuer.makeKey()
      assert.isFalse(yield* has(first, rotated.kid))
      // Just fetched: a made-up token does not cause another fetch.
      assert.isUndefined(yield* keys.newerThan(first))
      yield* TestClock.adjust(UNKNOWN_KEY_MS)
      const newer = yield* keys.newerThan(first)
      assert.isDefined(newer)
      if (newer !== undefined) assert.isTrue(yield* has(newer, rotated.kid))
      // A caller with the old keys gets these without a fetch.
      assert.strictEqual(yield* keys.newerThan(first), newer)
      assert.isUndefined(newer && (yield* keys.newerThan(newer)))
      assert.strictEqual(fetches(), 2)
    })
  )

  it.effect("stay in use for an hour while the issuer is away; its outage and its return are logged once", () =>
    Effect.gen(function* () {
      const { issuer } = yield* world
      const keys = yield* makeIssuerKeys(issuer.url)
      const first = yield* keys.current
      issuer.behave(away)
      yield* TestClock.adjust(KEYS_TTL_MS)
      assert.strictEqual(yield* keys.current, first)
      yield* TestClock.adjust(RETRY_MS / 2)
      assert.strictEqual(yield* keys.current, first)
      // Waits for the attempt that the calls before have started.
      assert.isUndefined(yield* keys.newerThan(first))
      assert.strictEqual(said.length, 1)
      assert.include(said[0] ?? "", `${issuer.url} does not work`)
      yield* TestClock.adjust(KEYS_STALE_MS)
      assert.strictEqual((yield* Effect.flip(keys.current))._tag, "KeysUnavailable")
      issuer.behave(undefined)
      // Too early for another fetch.
      assert.strictEqual((yield* Effect.flip(keys.current))._tag, "KeysUnavailable")
      yield* TestClock.adjust(RETRY_MS)
      assert.notStrictEqual(yield* keys.current, first)
      assert.include(said.at(-1) ?? "", "works again")
    }).pipe(Effect.provide(layerLog))
  )

  const answer =
    (text: (url: string) => string, status = 200, headers: Record<string, string> = {}) =>
    (url: string): Mischief =>
    (_path, response) => {
      response.writeHead(status, headers).end(text(url))
      return true
    }

  it.effect.each<readonly [string, (url: string) => Mischief, string]>([
    ["is away", () => away, "500"],
    ["is another", answer(() => '{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}'), "evil"],
    [
      "publishes its keys where an attacker may change them",
      answer((url) => JSON.stringify({ issuer: url, jwks_uri: "http://evil.example/keys" })),
      "not an https address"
    ],
    ["says nothing", answer(() => ""), "openid-configuration"],
    ["sends elsewhere", answer(() => "", 302, { location: "http://127.0.0.1:9/" }), "openid-configuration"],
    ["never stops", answer(() => " ".repeat(MAX_ANSWER_BYTES + 1)), "over 262144 bytes"],
    [
      "publishes secrets",
      (url) => (path, response) => {
        const keys =
          path === "/keys" ? { keys: [{ kty: "oct", k: "c2VjcmV0" }] } : { issuer: url, jwks_uri: `${url}/keys` }
        response.end(JSON.stringify(keys))
        return true
      },
      "no public key"
    ]
  ])("are not there when the issuer %s", ([, mischief, logged]) =>
    Effect.gen(function* () {
      const { issuer } = yield* world
      issuer.behave(mischief(issuer.url))
      const keys = yield* makeIssuerKeys(issuer.url)
      assert.strictEqual((yield* Effect.flip(keys.current))._tag, "KeysUnavailable")
      assert.strictEqual(said.length, 1)
      assert.include(said[0] ?? "", logged)
    }).pipe(Effect.provide(layerLog))
  )

  it.effect(
    "are fetched with a timeout of five seconds, and a caller that disconnects does not end the fetch for others",
    () =>
      Effect.gen(function* () {
        const { issuer } = yield* world
        const asked = yield* Effect.promise(async () => {
          let notify = () => undefined as void
          const promise = new Promise<void>((done) => {
            notify = done
          })
          return { promise, notify }
        })
        issuer.behave(() => {
          asked.notify()
          return true
        })
        const keys = yield* makeIssuerKeys(issuer.url)
        const leaving = yield* Effect.forkChild(keys.current)
        const staying = yield* Effect.forkChild(Effect.flip(keys.current))
        yield* Effect.promise(() => asked.promise)
        yield* Fiber.interrupt(leaving)
        yield* TestClock.adjust(5_000)
        assert.strictEqual((yield* Fiber.join(staying))._tag, "KeysUnavailable")
        assert.strictEqual(issuer.paths.length, 1)
      }).pipe(Effect.provide(layerLog))
  )
})
