import { createServer } from "node:http"
import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import { GetSessionRequestSchema, ListSessionsRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { KeySource } from "../../src/auth/KeySource.ts"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, subscribe, verdictOf } from "../support/Calls.ts"
import { envelope, proposal, SESSION, startPayload } from "../support/Envelopes.ts"
import { ecKey, ISSUER, mint, rsaKey } from "../support/Tokens.ts"

const ec = ecKey("ec-1")
const rsa = rsaKey("rsa-1")
const DECISION = "macp.mode.decision.v1"

const lead = (claims: object = {}) => mint(ec, Date.now(), claims)
const watcher = () => mint(rsa, Date.now(), { sub: "watcher", macp_scopes: { is_observer: true } })

const sandbox = Sandbox.layerSigned(
  { issuer: ISSUER, tokens: [{ token: "static-risk", sender: "agent://risk" }] },
  { port: 0 }
).pipe(Layer.provide(KeySource.layerInline({ keys: [ec.jwk, rsa.jwk] })))

const start = envelope("SessionStart", "m1", startPayload())

describe("signed tokens on the wire", () => {
  it.live("name the sender, beside static tokens", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      yield* Effect.promise(async () => {
        assert.strictEqual(await verdictOf(client, start, lead()), "ok")
        assert.strictEqual(await verdictOf(client, envelope("Proposal", "m2", proposal()), "static-risk"), "ok")
        assert.strictEqual(
          await verdictOf(client, envelope("Proposal", "m3", proposal("p2")), "no.such.token"),
          "UNAUTHENTICATED"
        )
        const forged = mint(ecKey("ec-1"), Date.now())
        assert.strictEqual(
          await verdictOf(client, envelope("Proposal", "m3", proposal("p2")), forged),
          "UNAUTHENTICATED"
        )
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("are named to a refused caller", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      const request = create(ListSessionsRequestSchema)
      const detail = yield* Effect.promise(() =>
        client.unary("listSessions", request, "no.such.token").then(String, (cause) => Object(cause).details)
      )
      assert.match(
        detail,
        /takes signed tokens of .* for macp-runtime \(RS256 or ES256\) .* and the tokens of its list/
      )
    }).pipe(Effect.provide(sandbox))
  )

  it.live("that have expired are refused with their end, which a forged one does not show", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      const detailOf = (token: string) =>
        client
          .unary("listSessions", create(ListSessionsRequestSchema), token)
          .then(String, (cause) => String(Object(cause).details))
      const expired = { exp: Date.UTC(2026, 6, 1, 10, 0, 5) / 1_000 }
      yield* Effect.promise(async () => {
        assert.match(await detailOf(lead(expired)), /^the token expired at 20260701T100005Z - .*ttl_seconds$/)
        assert.match(await detailOf(mint(ecKey("ec-1"), Date.now(), expired)), /^missing or unknown credential/)
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("leave room for names where the sandbox accepts them", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      yield* Effect.promise(async () => {
        assert.strictEqual(await verdictOf(client, start, "agent://lead"), "ok")
        assert.strictEqual(await verdictOf(client, envelope("Proposal", "m2", proposal()), "static-risk"), "ok")
        const detail = await client
          .unary("listSessions", create(ListSessionsRequestSchema), "no.such.token")
          .then(String, (cause) => String(Object(cause).details))
        assert.match(detail, / and the tokens of its list .* and any name without a dot$/)
        // A name is never an observer.
        const get = create(GetSessionRequestSchema, { sessionId: SESSION })
        const refusal = await client.unary("getSession", get, "watcher").then(
          () => undefined,
          (failure: { code: number }) => failure.code
        )
        assert.strictEqual(refusal, status.PERMISSION_DENIED)
      })
    }).pipe(
      Effect.provide(
        Sandbox.layerSigned(
          { issuer: ISSUER, tokens: [{ token: "static-risk", sender: "agent://risk" }], acceptsNames: true },
          { port: 0 }
        ).pipe(Layer.provide(KeySource.layerInline({ keys: [ec.jwk] })))
      )
    )
  )

  it.live("limit modes, starts and open sessions by their scopes", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      const scoped = (macp_scopes: object) => verdictOf(client, start, lead({ macp_scopes }))
      yield* Effect.promise(async () => {
        assert.strictEqual(await scoped({ allowed_modes: [] }), "FORBIDDEN")
        assert.strictEqual(await scoped({ allowed_modes: ["macp.mode.task.v1"] }), "FORBIDDEN")
        assert.strictEqual(await scoped({ can_start_sessions: false }), "FORBIDDEN")
        assert.strictEqual(await scoped({ max_open_sessions: 0 }), "RATE_LIMITED")
        assert.strictEqual(await scoped({ allowed_modes: [DECISION], max_open_sessions: 1 }), "ok")
        const signal = envelope("Signal", "g1", new Uint8Array(), { mode: "", sessionId: "" })
        const modes = (allowed_modes: Array<string>) => lead({ macp_scopes: { allowed_modes } })
        assert.strictEqual(await verdictOf(client, signal, modes([DECISION])), "FORBIDDEN")
        assert.strictEqual(await verdictOf(client, signal, modes([DECISION, ""])), "ok")
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("admit an observer to a session it has no part in, and no other caller", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      yield* Effect.promise(async () => {
        await verdictOf(client, start, lead())
        const get = create(GetSessionRequestSchema, { sessionId: SESSION })
        assert.strictEqual((await client.unary("getSession", get, watcher())).metadata?.initiator, "agent://lead")
        const other = lead({ sub: "agent://other" })
        const refusal = await client.unary("getSession", get, other).then(
          () => undefined,
          (failure: { code: number }) => failure.code
        )
        assert.strictEqual(refusal, status.PERMISSION_DENIED)
        const watched = client.session(watcher())
        watched.write(subscribe(SESSION))
        assert.strictEqual((await watched.frames.next())?.response.case, "envelope")
        const denied = client.session(other)
        denied.write(subscribe(SESSION))
        const frame = await denied.frames.next()
        assert(frame?.response.case === "error")
        assert.match(frame.response.value.code, /^FORBIDDEN:/)
        watched.cancel()
        denied.cancel()
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("are checked with keys from a URL", () =>
    Effect.gen(function* () {
      const url = yield* publish(JSON.stringify({ keys: [ec.jwk] }))
      const layer = Sandbox.layerSigned({ issuer: ISSUER }, { port: 0 }).pipe(Layer.provide(KeySource.layerUrl(url)))
      yield* Effect.gen(function* () {
        const client = yield* connect((yield* Sandbox).address)
        yield* Effect.promise(async () => {
          const list = create(ListSessionsRequestSchema)
          assert.deepStrictEqual((await client.unary("listSessions", list, lead())).sessions, [])
          assert.strictEqual(await verdictOf(client, start, watcher()), "UNAUTHENTICATED")
        })
      }).pipe(Effect.provide(layer))
    })
  )
})

/** Serves `body` at a URL for as long as the scope lasts. */
const publish = (body: string) =>
  Effect.acquireRelease(
    Effect.callback<{ url: string; close: () => void }>((resume) => {
      const server = createServer((_request, response) => response.end(body))
      server.listen(0, "127.0.0.1", () => {
        const bound = server.address()
        const port = bound === null || typeof bound === "string" ? 0 : bound.port
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/.well-known/jwks.json`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ url }) => url))
