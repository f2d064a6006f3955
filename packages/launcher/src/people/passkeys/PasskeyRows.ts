import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A person answers or enrols within this time. */
const CHALLENGE_MINUTES = 5
/** Challenges of a person that are not used; older ones make way. */
const MOST_CHALLENGES = 10
const NONCE_BYTES = 32

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  credential_id: Schema.String,
  public_key: Schema.Uint8Array,
  rp_id: Schema.String,
  counter: Schema.Int,
  enrolled_at: Schema.String,
  used_at: Schema.NullOr(Schema.String)
})
const decodeRow = Schema.decodeUnknownEffect(Row)

/** A passkey of a person. */
export interface Passkey {
  readonly id: string
  readonly name: string
  readonly credentialId: string
  readonly publicKey: Uint8Array
  readonly rpId: string
  readonly counter: number
  readonly enrolledAt: string
  readonly usedAt: string | undefined
}

/** A passkey that is to be stored. */
export type NewPasskey = Pick<Passkey, "name" | "credentialId" | "publicKey" | "rpId" | "counter">

const passkeyOf = ({ credential_id, enrolled_at, public_key, rp_id, used_at, ...row }: typeof Row.Type): Passkey => ({
  ...row,
  credentialId: credential_id,
  publicKey: public_key,
  rpId: rp_id,
  enrolledAt: enrolled_at,
  usedAt: used_at ?? undefined
})

/** The passkeys of persons, and the challenges that they have to sign. */
export class PasskeyRows extends Context.Service<PasskeyRows, Effect.Success<typeof make>>()(
  "runplane/launcher/PasskeyRows"
) {
  static readonly layer = Layer.effect(
    PasskeyRows,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  const bytea = (bytes: Uint8Array) => sql`decode(${Hex.encode(bytes)}::text, 'hex')`
  const iso = (column: string) =>
    sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`)
  const columns = sql`
    id::text AS id, name, credential_id, public_key, rp_id, counter::float8 AS counter, ${iso("enrolled_at")},
    ${iso("used_at")}`
  const read = (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), passkeyOf)))

  return {
    /** Makes a challenge of a person: for an answer to an item, or for an enrolment. */
    challenge: Effect.fnUntraced(function* (person: string, item: string | undefined) {
      const nonce = yield* random.randomBytes(NONCE_BYTES)
      yield* sql`DELETE FROM people.passkey_challenges WHERE expires_at <= clock_timestamp()`
      yield* sql`
        DELETE FROM people.passkey_challenges WHERE nonce IN (
          SELECT nonce FROM people.passkey_challenges WHERE person = ${person}
          ORDER BY expires_at DESC OFFSET ${MOST_CHALLENGES - 1}::int)`
      yield* sql`
        INSERT INTO people.passkey_challenges (nonce, person, item, expires_at)
        VALUES (${bytea(nonce)}, ${person}, ${item ?? null}::uuid,
          clock_timestamp() + ${`${CHALLENGE_MINUTES} minutes`}::interval)`
      return nonce
    }, sql.withTransaction),

    /** Takes a challenge, which nothing can take again. Returns whether it was one of the person, and for this item. */
    take: (person: string, item: string | undefined, nonce: Uint8Array) =>
      Effect.map(
        sql`
          DELETE FROM people.passkey_challenges
          WHERE nonce = ${bytea(nonce)} AND person = ${person} AND item IS NOT DISTINCT FROM ${item ?? null}::uuid
            AND expires_at > clock_timestamp()
          RETURNING person`,
        ({ length }) => length > 0
      ),

    /** The passkeys of a person that are not deleted, the oldest first. */
    of: (person: string) =>
      Effect.flatMap(
        sql`SELECT ${columns} FROM people.passkeys WHERE person = ${person} AND revoked_at IS NULL ORDER BY enrolled_at`,
        read
      ),

    /** Those that were enrolled before an item opened, and for this page. */
    before: (person: string, item: string, rpId: string) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM people.passkeys p
          WHERE p.person = ${person} AND p.revoked_at IS NULL AND p.rp_id = ${rpId}
            AND p.enrolled_at < (SELECT i.opened_at FROM people.items i WHERE i.id = ${item}::uuid)
          ORDER BY p.enrolled_at`,
        read
      ),

    /** Locks the passkeys of a person: uses of one follow each other. */
    lock: (person: string) =>
      Effect.asVoid(sql`SELECT FROM people.passkeys WHERE person = ${person} ORDER BY id FOR UPDATE`),

    /** Stores a passkey; undefined where its credential is known already. */
    add: Effect.fnUntraced(function* (person: string, passkey: NewPasskey) {
      const { counter, credentialId, name, publicKey, rpId } = passkey
      const id = yield* random.uuidV4()
      const rows = yield* sql`
        INSERT INTO people.passkeys (id, person, name, credential_id, public_key, rp_id, counter, enrolled_at)
        VALUES (${id}::uuid, ${person}, ${name}, ${credentialId}, ${bytea(publicKey)}, ${rpId}, ${counter}::bigint,
          clock_timestamp())
        ON CONFLICT (credential_id) DO NOTHING RETURNING ${columns}`
      return (yield* read(rows))[0]
    }),

    /** A passkey has signed an answer. */
    used: (id: string, counter: number) =>
      sql`UPDATE people.passkeys SET counter = ${counter}::bigint, used_at = now() WHERE id = ${id}::uuid`,

    /** Deletes a passkey of a person: it signs nothing from now on. Returns its name; undefined without one. */
    revoke: (person: string, id: string) =>
      sql<{ readonly name: string }>`
        UPDATE people.passkeys SET revoked_at = now()
        WHERE id = ${id}::uuid AND person = ${person} AND revoked_at IS NULL RETURNING name`.pipe(
        Effect.map(([row]) => row?.name)
      )
  }
})
