import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DevelopmentAuth } from "../../src/auth/DevelopmentAuth.ts"

/** A runtime at an address, and the credentials of its callers. */
export interface RuntimeAddress {
  /** `host:port`. */
  readonly address: string
  /** The bearer value that makes a caller this participant, in sessions of this mode. */
  readonly credentialOf: (participant: string, modeName: string) => Effect.Effect<string>
  /** The settings of a control plane for this runtime, besides its address. */
  readonly settings: Readonly<Record<string, string>>
  /**
   * Whether the history of an ended session can still be read; durable stores compact it
   * (docs/internals/runtime.md#compaction).
   */
  readonly keepsHistory: boolean
}

/** The runtime that the suite runs against. */
export class RuntimeUnderTest extends Context.Service<RuntimeUnderTest, RuntimeAddress>()(
  "runplane/stack/test/RuntimeUnderTest"
) {}

/** Development authentication: a name is its own credential, without observers (docs/internals/runtime.md#bearer). */
export const byName: Pick<RuntimeAddress, "credentialOf" | "settings"> = {
  credentialOf: (participant) => Effect.succeed(participant),
  settings: { RUNTIME_USE_DEV_HEADER: "true" }
}

/**
 * Signed tokens of the development auth service, with the scopes that a launch gives
 * (docs/internals/launch.md#tokens).
 */
export const byToken = Effect.gen(function* () {
  const { url } = yield* DevelopmentAuth
  const credentialOf: RuntimeAddress["credentialOf"] = (sender, modeName) =>
    Effect.promise(async () => {
      const scopes = { can_start_sessions: sender === INITIATOR, allowed_modes: [modeName, ""] }
      const body = JSON.stringify({ sender, scopes })
      const headers = { "content-type": "application/json" }
      const answer = await fetch(`${url}/tokens`, { method: "POST", headers, body })
      return decodeAnswer(await answer.json()).token
    })
  const settings = {
    RUNTIME_USE_DEV_HEADER: "false",
    PROTO_AUTH_SERVICE_URL: url,
    PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: "true"
  }
  return { credentialOf, settings }
})

const decodeAnswer = Schema.decodeUnknownSync(Schema.Struct({ token: Schema.String }))

/** Who starts the sessions of the suite. */
export const INITIATOR = "agent://lead"
