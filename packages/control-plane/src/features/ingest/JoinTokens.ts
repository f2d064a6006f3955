import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { JoinToken, JoinTokenRequest } from "@runplane/api"
import { isoTime } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"

/** The header in which exporters send a token. */
export const JOIN_HEADER = "x-runplane-join"

/** Exports follow the end of a session: a token lives so much longer. Milliseconds. */
const MARGIN_MS = 15 * 60_000

/** What a token is for: another use of the key gets another text. */
const AUDIENCE = "runplane-telemetry-join-v1"

/**
 * Prefix, session, end in Unix seconds, the name of a shadow in base64url, HMAC-SHA-256 of these in base64url. Only the
 * token of a shadow has the name.
 */
const TOKEN = /^(rj1\.([A-Za-z0-9_-]{22,512})\.([0-9]{1,12})(?:\.s([A-Za-z0-9_-]{1,8192}))?)\.([A-Za-z0-9_-]{43})$/

/** The session that a token allows to join, or why it allows none. */
export type CheckedToken =
  | { readonly sessionId: string; readonly shadow: string | undefined; readonly refusal?: undefined }
  | {
      readonly sessionId?: undefined
      readonly shadow?: undefined
      readonly refusal: "token_invalid" | "token_expired"
    }

/**
 * Tokens that let the spans of their holder join the run of one session (docs/reference/ingest.md#tokens). All
 * processes of a database sign with its key.
 */
export class JoinTokens extends Context.Service<
  JoinTokens,
  {
    /** A token of a session that lives for `ttlMs` and the time in which the last exports arrive. */
    readonly issue: (request: JoinTokenRequest, caller: Caller) => Effect.Effect<JoinToken, SqlError>
    readonly check: (token: string) => Effect.Effect<CheckedToken, SqlError>
  }
>()("runplane/control-plane/JoinTokens") {
  static readonly layer = Layer.effect(
    JoinTokens,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      let known: KeyObject | undefined
      const readKey = Effect.gen(function* () {
        const [row] = yield* sql<{ readonly secret: Uint8Array }>`SELECT secret FROM telemetry_token_key`
        if (row === undefined) return yield* Effect.die(new Error("the migrations have left telemetry_token_key empty"))
        known = createSecretKey(row.secret)
        return known
      }).pipe(Effect.withTracerEnabled(false))
      const key = Effect.suspend(() => (known === undefined ? readKey : Effect.succeed(known)))
      const macOf = (secret: KeyObject, text: string) =>
        createHmac("sha256", secret).update(`${AUDIENCE}\n${text}`).digest("base64url")

      const issue = Effect.fn("JoinTokens.issue")(function* (
        { sessionId, shadow, ttlMs }: JoinTokenRequest,
        caller: Caller
      ) {
        const now = yield* Clock.currentTimeMillis
        const endsAt = Math.ceil((now + ttlMs + MARGIN_MS) / 1_000)
        const named = shadow === undefined ? "" : `.s${Buffer.from(shadow).toString("base64url")}`
        const text = `rj1.${sessionId}.${endsAt}${named}`
        const token = `${text}.${macOf(yield* key, text)}`
        const expiresAt = isoTime(endsAt * 1_000)
        const at = isoTime(now)
        const issued = { action: "telemetry.token", resource: "session", resourceId: sessionId }
        const details = { expiresAt, ...(shadow !== undefined && { shadow }) }
        yield* audit.record({ caller, ...issued, details, at })
        return { token, header: `${JOIN_HEADER}=${token}`, expiresAt }
      })

      const check = Effect.fn("JoinTokens.check")(function* (token: string): Effect.fn.Return<CheckedToken, SqlError> {
        const [, text = "", sessionId = "", endsAt = "", name, mac = ""] = TOKEN.exec(token) ?? []
        // Compared as texts: base64url has several texts of the same bytes.
        const isOurs = timingSafeEqual(Buffer.from(macOf(yield* key, text)), Buffer.from(mac.padEnd(43)))
        if (text === "" || !isOurs) return { refusal: "token_invalid" }
        const hasEnded = Number(endsAt) * 1_000 <= (yield* Clock.currentTimeMillis)
        if (hasEnded) return { refusal: "token_expired" }
        return { sessionId, shadow: name === undefined ? undefined : Buffer.from(name, "base64url").toString() }
      })
      return JoinTokens.of({ issue, check })
    })
  )
}
