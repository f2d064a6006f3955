import { randomUUID } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { mintToken, RuntimeClient, RuntimeCredentials, type RuntimeError } from "@runplane/runtime"
import { KeySource, Sandbox, SandboxFaults } from "@runplane/sandbox"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { DevelopmentAuth, TOKEN_AUDIENCE, TOKEN_ISSUER } from "../../src/auth/DevelopmentAuth.ts"
import { Dice } from "./support/Dice.ts"
import { layerObserving } from "./support/ObservedStack.ts"
import { awaitEnd, awaitEvent, envelopeOf, postRun, startPayload } from "./support/PlayedSession.ts"
import { LEAD, plainScript } from "./support/SessionScript.ts"
import { assertConverged, exportOf } from "./support/Verdict.ts"

const MODE = "macp.mode.task.v1"
const TTL_SECONDS = 5
/** A runtime allows for clocks that differ by a minute; a service whose clock is behind by that mints short tokens. */
const BEHIND_MS = 60_000
/** A token is refused from then on. Milliseconds. */
const LIFE_MS = TTL_SECONDS * 1_000

/** The auth service, with a clock that is behind. */
const layerAuthBehind = Layer.effectContext(
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const behind = () => clock.currentTimeMillisUnsafe() - BEHIND_MS
    return yield* Effect.provideService(
      Layer.build(Layer.fresh(DevelopmentAuth.layer({ port: 0 }))),
      Clock.Clock,
      Object.assign(Object.create(clock), { currentTimeMillisUnsafe: behind, currentTimeMillis: Effect.sync(behind) })
    )
  })
)

const layerVerifyingSandbox = Layer.unwrap(
  Effect.map(DevelopmentAuth, ({ keysUrl }) =>
    Sandbox.layerSigned({ issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE }, { port: 0, sweepIntervalMs: 50 }).pipe(
      Layer.provide(KeySource.layerUrl(keysUrl))
    )
  )
)

const layerObservingWithTokens = Layer.unwrap(
  Effect.gen(function* () {
    const { url } = yield* DevelopmentAuth
    const { address } = yield* Sandbox
    return layerObserving(address, {
      RUNTIME_BEARER_TOKEN: "",
      PROTO_AUTH_SERVICE_URL: url,
      PROTO_AUTH_TOKEN_TTL_SECONDS: String(TTL_SECONDS)
    })
  })
)

const layerStage = layerObservingWithTokens.pipe(
  Layer.provideMerge(layerVerifyingSandbox),
  Layer.provideMerge(layerAuthBehind)
)

/** Reads the session from the runtime with the first token of the auth service, at each call. */
const readerWithOneToken = Effect.gen(function* () {
  const { url } = yield* DevelopmentAuth
  const { address } = yield* Sandbox
  const request = { sender: "reader", ttlSeconds: TTL_SECONDS, scopes: { is_observer: true } }
  const { token } = yield* mintToken({ url, timeoutMs: 5_000 }, request).pipe(Effect.provide(FetchHttpClient.layer))
  const context = yield* Layer.build(
    Layer.fresh(RuntimeClient.layerGrpc({ address })).pipe(
      Layer.provide(Layer.fresh(RuntimeCredentials.layerChain({ bearer: token }))),
      Layer.provide(FetchHttpClient.layer)
    )
  )
  const runtime = Context.get(context, RuntimeClient)
  return (sessionId: string) =>
    Effect.match(runtime.getSession(sessionId), {
      onFailure: ({ reason }: RuntimeError): string => reason,
      onSuccess: () => "read"
    })
})

it.live("a session that outlives the token of its observer, and loses its stream then, is observed to its end", () =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const faults = yield* SandboxFaults
    const sessionId = randomUUID()
    const said = plainScript(MODE, new Dice(5)).steps.flatMap((step) => (step.kind === "say" ? [step] : []))
    const start = { sender: LEAD, messageType: "SessionStart", payload: startPayload(600_000) }
    const session = [start, ...said].map(({ sender, ...message }, position) => ({
      sender,
      envelope: envelopeOf(sessionId, MODE, `m${position + 1}`, message)
    }))
    const submit = Effect.fnUntraced(function* ({ envelope, sender }: (typeof session)[number]) {
      assert.isTrue((yield* sandbox.submit({ ...envelope }, sender)).ok)
    })

    yield* postRun(sessionId, { mode: MODE, ttlMs: 600_000 })
    const read = yield* readerWithOneToken
    for (const message of session.slice(0, 2)) yield* submit(message)
    assert.isTrue(yield* awaitEvent(sessionId, "message.received", ({ messageId }) => messageId === "m2"))
    assert.strictEqual(yield* read(sessionId), "read")

    // Every token that was minted until now has ended when the stream is cut: it is opened again with another one.
    yield* Effect.sleep(LIFE_MS + 1_000)
    assert.strictEqual(yield* read(sessionId), "UNAUTHENTICATED")
    yield* faults.inject({ kind: "cut", sessionId, afterFrames: 0, status: "unavailable", times: 1 })
    // Before the next message: a session that ends while its stream is closed leaves no event of the reconnection.
    assert.isTrue(yield* awaitEvent(sessionId, "session.stream.opened", ({ status }) => status === "reconnecting"))
    for (const message of session.slice(2)) yield* submit(message)
    yield* awaitEnd(sessionId)

    const bundle = yield* exportOf(sessionId)
    const history = session.map(({ envelope, sender }) => ({ ...envelope, sender }))
    assertConverged({ sessionId, history, signals: [], ending: "RESOLVED" }, bundle, {}, [])
  }).pipe(Effect.provide(layerStage), Effect.scoped)
)
