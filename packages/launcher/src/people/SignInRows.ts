import * as PgClient from "@effect/sql-pg/PgClient"
import { roles } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** Hours after which a person has to sign in again. */
export const SIGN_IN_HOURS = 12

/** With what a person has signed in: a key, by its hash, or rights that the issuer of its token gave it. */
export type SignedInBy =
  | { readonly _tag: "key"; readonly keySha256: Uint8Array }
  | {
      readonly _tag: "issuer"
      readonly role: (typeof roles)[number]
      readonly isVoter: boolean
      readonly groups: ReadonlyArray<string>
      readonly signedInAtUnixMs: number | undefined
    }

export interface SignIn {
  readonly person: string
  readonly name: string | undefined
  readonly by: SignedInBy
}

const Row = Schema.Struct({
  person: Schema.String,
  name: Schema.NullOr(Schema.String),
  key_sha256: Schema.NullOr(Schema.Uint8Array),
  role: Schema.NullOr(Schema.Literals(roles)),
  is_voter: Schema.Boolean,
  groups: Schema.fromJsonString(Schema.Array(Schema.String)),
  auth_ms: Schema.NullOr(Schema.Finite)
})
const decodeRow = Schema.decodeUnknownEffect(Row)

const signInOf = ({ auth_ms, groups, is_voter, key_sha256, name, person, role }: typeof Row.Type): SignIn => ({
  person,
  name: name ?? undefined,
  by:
    key_sha256 !== null || role === null
      ? { _tag: "key", keySha256: key_sha256 ?? new Uint8Array() }
      : { _tag: "issuer", role, isVoter: is_voter, groups, signedInAtUnixMs: auth_ms ?? undefined }
})

/** The sign-ins of the page, by the hash of the token in the cookie. */
export class SignInRows extends Context.Service<SignInRows, Effect.Success<typeof make>>()(
  "runplane/launcher/SignInRows"
) {
  static readonly layer = Layer.effect(
    SignInRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const bytea = (bytes: Uint8Array) => sql`decode(${Hex.encode(bytes)}::text, 'hex')`

  return {
    /** Adds a sign-in with its audit entry, and deletes those that have expired. */
    add: Effect.fn("SignInRows.add")(function* (tokenSha256: Uint8Array, { by, name, person }: SignIn) {
      const issuer = by._tag === "issuer" ? by : undefined
      yield* sql`DELETE FROM people.sign_ins WHERE expires_at <= now()`
      yield* sql`
        INSERT INTO people.sign_ins (token_sha256, person, name, key_sha256, role, is_voter, groups, auth_time, expires_at)
        VALUES (${bytea(tokenSha256)}, ${person}, ${name ?? null}::text,
          ${by._tag === "key" ? bytea(by.keySha256) : sql`NULL`}, ${issuer?.role ?? null}::text,
          ${issuer?.isVoter ?? false}::boolean, ${JSON.stringify(issuer?.groups ?? [])}::text::jsonb,
          to_timestamp(${issuer?.signedInAtUnixMs ?? null}::float8 / 1000), now() + ${`${SIGN_IN_HOURS} hours`}::interval)`
      yield* sql`
        INSERT INTO people.audit (actor, action, detail)
        VALUES (${person}, 'person.signed-in', ${JSON.stringify({ with: by._tag })}::text::jsonb)`
    }, sql.withTransaction),

    /** The sign-in of a token; undefined for an unknown or expired one. */
    find: (tokenSha256: Uint8Array) =>
      sql`
        SELECT person, name, key_sha256, role, is_voter, groups::text AS groups,
          (extract(epoch FROM auth_time) * 1000)::float8 AS auth_ms
        FROM people.sign_ins WHERE token_sha256 = ${bytea(tokenSha256)} AND expires_at > now()`.pipe(
        Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))),
        Effect.map(([row]) => row && signInOf(row))
      ),

    /** Ends a sign-in. */
    remove: Effect.fn("SignInRows.remove")(function* (tokenSha256: Uint8Array) {
      const [row] = yield* sql<{ readonly person: string }>`
        DELETE FROM people.sign_ins WHERE token_sha256 = ${bytea(tokenSha256)} RETURNING person`
      if (row === undefined) return
      yield* sql`
        INSERT INTO people.audit (actor, action, detail) VALUES (${row.person}, 'person.signed-out', '{}'::jsonb)`
    }, sql.withTransaction)
  }
})
