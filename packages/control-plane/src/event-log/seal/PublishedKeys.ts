import { createPublicKey, verify } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { keyChain, makeKeyStatement, type SignatureCheck, type SignedKeyStatement } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { type SealKey, SealKeys } from "../../platform/ledger/SealKeys.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** How long the published keys are cached. Milliseconds. */
const KEYS_KEPT_MS = 2_000
/** Keys that are read: a writer of the database can add more. */
const MOST_KEYS = 1_000

/** A public key that has sealed, with the statement that proves it. */
export interface PublishedKey extends SignedKeyStatement {
  readonly firstUsedAt: string
}

/**
 * The keys that a reader can trust as much as this process (docs/reference/seal.md#keys). A row of the database counts
 * only when the key of this process proves it: each key names the one that it replaced, and both sign that.
 */
export class PublishedKeys extends Context.Service<
  PublishedKeys,
  {
    /** The key of this process and those before it, the newest first; none without a key. */
    readonly keys: Effect.Effect<ReadonlyArray<PublishedKey>, SqlError>
  }
>()("runplane/control-plane/PublishedKeys") {
  /** Publishes the statement of this process's key, as soon as the database takes it. */
  static readonly layer = Layer.effect(
    PublishedKeys,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { current, previous } = yield* SealKeys
      const { sealDoubted } = yield* Metrics
      let reported = ""

      const publish = Effect.fnUntraced(function* (key: SealKey) {
        yield* sql`
          INSERT INTO seal_keys (key_id, public_key) VALUES (${key.keyId}, ${key.publicKey})
          ON CONFLICT (key_id) DO NOTHING`
        const [stored] = yield* sql<{ readonly first_used_at: Date }>`
          SELECT first_used_at FROM seal_keys WHERE key_id = ${key.keyId}
            AND NOT EXISTS (SELECT FROM seal_key_statements WHERE key_id = ${key.keyId}
                            AND previous = ${previous?.keyId ?? ""})
            ${previous === undefined ? sql`AND NOT EXISTS (SELECT FROM seal_key_statements WHERE key_id = ${key.keyId})` : sql``}`
        if (stored === undefined) return
        const statement = makeKeyStatement(key, stored.first_used_at.toISOString(), previous)
        const inserted = yield* sql`
          INSERT INTO seal_key_statements (key_id, previous, statement)
          VALUES (${key.keyId}, ${previous?.keyId ?? ""}, ${JSON.stringify(statement)}::text::json)
          ON CONFLICT DO NOTHING RETURNING key_id`
        if (inserted.length > 0)
          yield* insertPending(sql, [pendingEntry(key, "key", subjectOf(statement), { ...statement })])
      }, sql.withTransaction)

      const read = Effect.fnUntraced(function* (key: SealKey) {
        yield* publish(key)
        const rows = yield* sql<KeyRow>`
          SELECT k.key_id, k.first_used_at, s.statement::text AS statement
          FROM seal_keys k LEFT JOIN seal_key_statements s USING (key_id)
          ORDER BY k.key_id = ${key.keyId} DESC, k.first_used_at DESC, k.key_id LIMIT ${BigInt(MOST_KEYS)}`
        const statements = rows.flatMap(({ statement }) => {
          const decoded = statement === null ? undefined : decodeStatement(statement)
          return decoded?._tag === "Some" ? [decoded.value] : []
        })
        const chain = keyChain(sha256, statements, checkBy(statements), key.keyId)
        const firstUsed = new Map(rows.map((row) => [row.key_id, row.first_used_at.toISOString()]))
        const proven = chain.map(
          (one): PublishedKey => ({ ...one, firstUsedAt: firstUsed.get(one.keyId) ?? one.since })
        )
        yield* report([...firstUsed.keys()].filter((keyId) => !proven.some((one) => one.keyId === keyId)))
        return proven
      })

      /**
       * Once for the same keys: an earlier release did not sign changes of keys, and a writer of the database can add
       * rows.
       */
      const report = (unproven: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          const names = unproven.toSorted().join(", ")
          if (names === reported) return Effect.void
          reported = names
          if (names === "") return Effect.void
          sealDoubted("key")
          return Effect.logError(
            `the database has ${unproven.length} keys of seals that the key of this process does not prove (${names}): ` +
              "they are not published; SEAL_PREVIOUS_KEY_FILE names the key that this one replaced"
          )
        })

      // A verification needs the key of a seal, also one that no client read before the next key replaced it.
      const first = current === undefined ? Effect.void : publish(current)
      yield* Effect.forkScoped(forever("seal-keys", Effect.as(first, { pauseMs: Number.POSITIVE_INFINITY })))
      // The endpoint needs no authentication.
      const keys = yield* Effect.cachedWithTTL(
        (current === undefined ? Effect.succeed([]) : read(current)).pipe(Effect.withSpan("PublishedKeys.keys")),
        KEYS_KEPT_MS
      )
      return PublishedKeys.of({ keys })
    })
  )
}

/** Of the ledger's entry: the key, and the one that it replaced. */
const subjectOf = ({ keyId, previous }: SignedKeyStatement): string =>
  previous === null ? keyId : `${keyId}/${previous}`

interface KeyRow {
  readonly key_id: string
  readonly first_used_at: Date
  readonly statement: string | null
}

const decodeStatement = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      keyId: Schema.String,
      publicKey: Schema.String,
      previous: Schema.NullOr(Schema.String),
      since: Schema.String,
      signature: Schema.String,
      previousSignature: Schema.NullOr(Schema.String)
    })
  )
)

/** Checks signatures by the keys of the statements; `keyChain` compares each id with its key. */
const checkBy =
  (statements: ReadonlyArray<SignedKeyStatement>): SignatureCheck =>
  (keyId, message, signature) => {
    const found = statements.find((statement) => statement.keyId === keyId)
    if (found === undefined) return undefined
    try {
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: found.publicKey }, format: "jwk" })
      return verify(null, message, key, signature)
    } catch {
      // A row of another writer, which is not a key.
      return undefined
    }
  }
