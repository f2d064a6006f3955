import * as PgClient from "@effect/sql-pg/PgClient"
import { isoTime } from "@runplane/domain"
import type { Confirmations } from "@runplane/mcp"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { isoNow } from "../../platform/IsoNow.ts"

const SECRET_BYTES = 32

/**
 * The key and the used tokens of confirmations (docs/reference/mcp.md#confirmation). The database has them, because the
 * second step of an action may reach another process than the first.
 */
export const makeConfirmations = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom

  const read = Effect.gen(function* () {
    const fresh = Base64Url.encode(yield* random.randomBytes(SECRET_BYTES))
    yield* sql`INSERT INTO mcp_secret (id, secret) VALUES (true, ${fresh}) ON CONFLICT (id) DO NOTHING`
    const [row] = yield* sql<{ readonly secret: string }>`SELECT secret FROM mcp_secret`
    return new TextEncoder().encode(row?.secret ?? fresh)
  })
  // A failed read is repeated by the next call.
  let known: Uint8Array | undefined
  const secret = Effect.suspend(() =>
    known === undefined ? Effect.tap(read, (bytes) => Effect.sync(() => (known = bytes))) : Effect.succeed(known)
  )

  const redeem = Effect.fnUntraced(function* (nonce: string, expiresAt: number) {
    const now = yield* isoNow
    yield* sql`DELETE FROM mcp_used_tokens WHERE expires_at <= ${now}::timestamptz`
    const rows = yield* sql`
      INSERT INTO mcp_used_tokens (nonce, expires_at)
      VALUES (${nonce}, ${isoTime(expiresAt)}::timestamptz)
      ON CONFLICT (nonce) DO NOTHING RETURNING nonce`
    return rows.length > 0
  })
  const confirmations: Confirmations = { secret, redeem }
  return confirmations
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))
