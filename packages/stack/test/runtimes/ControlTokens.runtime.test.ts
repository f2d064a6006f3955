import { assert, describe, it } from "@effect/vitest"
import { encodePayload, ParticipantClient } from "@runplane/runtime"
import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { DevelopmentAuth, TOKEN_AUDIENCE, TOKEN_ISSUER } from "../../src/auth/DevelopmentAuth.ts"

const MODE = "macp.mode.decision.v1"
const SESSION = "00000000-0000-4000-8000-000000000001"
const decodeAnswer = Schema.decodeUnknownSync(Schema.Struct({ token: Schema.String }))

const message = (messageType: string, payloadType: string, payload: Parameters<typeof encodePayload>[1]) => ({
  sessionId: SESSION,
  mode: MODE,
  messageType,
  messageId: messageType,
  timestampUnixMs: Date.now(),
  payload: encodePayload(payloadType, payload)
})
const START = message("SessionStart", "macp.v1.SessionStartPayload", {
  intent: "test",
  participants: ["lead", "a"],
  modeVersion: "1.0.0",
  configurationVersion: "c1",
  ttlMs: "60000"
})
const PROPOSAL = message("Proposal", "macp.modes.decision.v1.ProposalPayload", { proposalId: "p1", option: "x" })

describe("a token without modes, on macp-runtime", () => {
  it.live("suspends and resumes a session of its sender, and sends no message", () =>
    Effect.gen(function* () {
      const { keysUrl, url } = yield* DevelopmentAuth
      const address = yield* startRuntime({
        MACP_MEMORY_ONLY: "1",
        MACP_AUTH_ISSUER: TOKEN_ISSUER,
        MACP_AUTH_AUDIENCE: TOKEN_AUDIENCE,
        MACP_AUTH_JWKS_URL: keysUrl
      })
      const as = (sender: string, scopes: object) =>
        Effect.gen(function* () {
          const body = JSON.stringify({ sender, scopes })
          const headers = { "content-type": "application/json" }
          const answer = yield* Effect.promise(() => fetch(`${url}/tokens`, { method: "POST", headers, body }))
          const { token } = decodeAnswer(yield* Effect.promise(() => answer.json()))
          return (yield* ParticipantClient).as(Redacted.make(token))
        })
      yield* Effect.gen(function* () {
        const lead = yield* as("lead", { can_start_sessions: true, allowed_modes: [MODE] })
        assert.isTrue((yield* lead.send(START)).ok)
        const control = yield* as("lead", { can_start_sessions: false, allowed_modes: [] })
        const about = { sessionId: SESSION, reason: "test" }
        const suspended = yield* control.suspendSession(about)
        assert.isTrue(suspended.ok)
        assert.strictEqual((yield* lead.getSession(SESSION)).state, "SUSPENDED")
        assert.isTrue((yield* control.resumeSession(about)).ok)
        assert.deepInclude(yield* control.send(PROPOSAL), { ok: false })
        // A participant that may not commit may not suspend either.
        const other = yield* as("a", { can_start_sessions: false, allowed_modes: [MODE] })
        const refusal = yield* Effect.flip(other.suspendSession(about))
        assert.strictEqual(refusal.reason, "PERMISSION_DENIED")
        assert.isTrue((yield* lead.send(PROPOSAL)).ok)
      }).pipe(Effect.provide(ParticipantClient.layerGrpc({ address })))
    }).pipe(Effect.provide(DevelopmentAuth.layer({ port: 0 })), Effect.scoped)
  )
})
