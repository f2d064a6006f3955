import { assert, describe, it } from "@effect/vitest"
import { CONTROL_PLANE_IDENTITY, RuntimeCredentials } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"

type Answer = { readonly status?: number; readonly body: unknown; readonly delay?: string }

interface TokenService {
  readonly requests: Array<{ readonly url: string; readonly body: unknown }>
  answer: (count: number) => Effect.Effect<Answer>
}

const tokenService = (answer: TokenService["answer"]): TokenService => ({ requests: [], answer })

const minting = (expiresInSeconds?: number): TokenService =>
  tokenService((count) =>
    Effect.succeed({
      body: { token: `jwt.${count}.x`, sender: "cp", ...(expiresInSeconds && { expires_in_seconds: expiresInSeconds }) }
    })
  )

const bodyOf = (request: HttpClientRequest.HttpClientRequest): unknown =>
  request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : undefined

const client = (service: TokenService) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.suspend(() => {
        service.requests.push({ url: url.href, body: bodyOf(request) })
        return Effect.map(service.answer(service.requests.length), ({ body, status }) =>
          HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body), { status: status ?? 200 }))
        )
      })
    )
  )

const headersOf = Effect.gen(function* () {
  const { headers } = yield* RuntimeCredentials
  return (yield* headers).map(([name, value]) => `${name}: ${Redacted.value(value)}`)
})

const bearer = Redacted.make("static-token")
const url = "http://auth.test:3200/"

describe("RuntimeCredentials", () => {
  it.effect("mints a token as an observer that cannot start sessions", () => {
    const service = minting(300)
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.1.x"])
      assert.deepStrictEqual(service.requests, [
        {
          url: "http://auth.test:3200/tokens",
          body: {
            sender: CONTROL_PLANE_IDENTITY,
            ttl_seconds: 3600,
            scopes: { can_start_sessions: false, is_observer: true }
          }
        }
      ])
    }).pipe(
      Effect.provide(RuntimeCredentials.layerChain({ tokenService: { url }, bearer })),
      Effect.provide(client(service))
    )
  })

  it.effect("keeps a token until 40 seconds before it expires", () => {
    const service = minting(300)
    return Effect.gen(function* () {
      yield* headersOf
      yield* TestClock.adjust("259 seconds")
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.1.x"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.2.x"])
    }).pipe(Effect.provide(RuntimeCredentials.layerChain({ tokenService: { url } })), Effect.provide(client(service)))
  })

  it.effect("takes a reported life under a minute for a minute, and a missing one for the requested life", () => {
    const short = minting(5)
    const silent = minting()
    const layer = (service: TokenService) =>
      Layer.fresh(RuntimeCredentials.layerChain({ tokenService: { url, ttlSeconds: 100 } })).pipe(
        Layer.provide(client(service))
      )
    const twice = Effect.gen(function* () {
      yield* headersOf
      yield* TestClock.adjust("19 seconds")
      return yield* headersOf
    })
    return Effect.gen(function* () {
      yield* Effect.provide(twice, layer(short))
      assert.strictEqual(short.requests.length, 1)
      yield* Effect.provide(Effect.andThen(twice, twice), layer(silent))
      assert.strictEqual(silent.requests.length, 1)
    })
  })

  it.effect("mints once for all concurrent callers", () => {
    const service = tokenService((count) =>
      Effect.as(Effect.sleep("1 second"), { body: { token: `jwt.${count}.x`, expires_in_seconds: 300 } })
    )
    return Effect.gen(function* () {
      const all = Effect.all(
        Array.from({ length: 20 }, () => headersOf),
        { concurrency: "unbounded" }
      )
      const [headers] = yield* Effect.all([all, TestClock.adjust("1 second")], { concurrency: 2 })
      assert.isTrue(headers.every(([header]) => header === "authorization: Bearer jwt.1.x"))
      assert.strictEqual(service.requests.length, 1)
    }).pipe(Effect.provide(RuntimeCredentials.layerChain({ tokenService: { url } })), Effect.provide(client(service)))
  })

  it.effect("falls through to the static bearer when minting fails, and tries again a little later", () => {
    const service = tokenService((count) =>
      Effect.succeed(count === 1 ? { status: 500, body: {} } : { body: { token: "jwt.2.x" } })
    )
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer static-token"])
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer static-token"])
      assert.strictEqual(service.requests.length, 1)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.2.x"])
    }).pipe(
      Effect.provide(RuntimeCredentials.layerChain({ tokenService: { url }, bearer })),
      Effect.provide(client(service))
    )
  })

  it.effect("falls through when the answer is not a token and without an answer in time", () =>
    Effect.gen(function* () {
      const nonsense = tokenService(() => Effect.succeed({ body: { token: 7 } }))
      const silent = tokenService(() => Effect.never)
      const chain = (service: TokenService) =>
        Layer.fresh(RuntimeCredentials.layerChain({ tokenService: { url }, bearer })).pipe(
          Layer.provide(client(service))
        )
      assert.deepStrictEqual(yield* Effect.provide(headersOf, chain(nonsense)), ["authorization: Bearer static-token"])
      const [headers] = yield* Effect.all([Effect.provide(headersOf, chain(silent)), TestClock.adjust("5 seconds")], {
        concurrency: 2
      })
      assert.deepStrictEqual(headers, ["authorization: Bearer static-token"])
    })
  )

  it.effect("drops a token that the runtime refused, unless it is brand new", () => {
    const service = minting(300)
    return Effect.gen(function* () {
      const { refused } = yield* RuntimeCredentials
      yield* headersOf
      assert.isFalse(yield* refused)
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.1.x"])
      yield* TestClock.adjust("5 seconds")
      assert.isTrue(yield* refused)
      assert.deepStrictEqual(yield* headersOf, ["authorization: Bearer jwt.2.x"])
    }).pipe(Effect.provide(RuntimeCredentials.layerChain({ tokenService: { url } })), Effect.provide(client(service)))
  })
})

describe("development credentials", () => {
  it.effect("are the identity, as header and as bearer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersOf, [
        `x-macp-agent-id: ${CONTROL_PLANE_IDENTITY}`,
        `authorization: Bearer ${CONTROL_PLANE_IDENTITY}`
      ])
    }).pipe(
      Effect.provide(RuntimeCredentials.layerChain({ devAgentId: CONTROL_PLANE_IDENTITY })),
      Effect.provide(client(minting()))
    )
  )
})
