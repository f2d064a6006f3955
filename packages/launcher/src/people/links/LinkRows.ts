import { createHash } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { ItemState, type LinkedQuestion, type PersonalLink } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  item: Schema.String,
  person: Schema.String,
  proposal_hash: Schema.String,
  expires_ms: Schema.Finite,
  code_sha256: Schema.NullOr(Schema.String),
  code_expires_ms: Schema.NullOr(Schema.Finite),
  sent_codes: Schema.Int,
  wrong_codes: Schema.Int,
  state: ItemState,
  item_hash: Schema.String,
  reason: Schema.NullOr(Schema.String),
  answered_by: Schema.NullOr(Schema.String),
  scenario_ref: Schema.String,
  seat: Schema.String,
  proof: Schema.Literals(["session", "fresh", "passkey"])
})
const decodeRow = Schema.decodeUnknownEffect(Row)

/** A link with its question, as both are now. */
export interface FoundLink extends PersonalLink {
  readonly item: string
  readonly person: string
  readonly codeSha256: string | undefined
  readonly question: LinkedQuestion
  /** Why the question is closed, in words. */
  readonly reason: string | undefined
  readonly answeredBy: string | undefined
  readonly scenarioRef: string
  readonly seat: string
  /** The proof that the seat needs. */
  readonly proof: "session" | "fresh" | "passkey"
}

const linkOf = (row: typeof Row.Type): FoundLink => ({
  item: row.item,
  person: row.person,
  proposalHash: row.proposal_hash,
  expiresAtUnixMs: row.expires_ms,
  codeSha256: row.code_sha256 ?? undefined,
  codeExpiresAtUnixMs: row.code_expires_ms ?? undefined,
  sentCodes: row.sent_codes,
  wrongCodes: row.wrong_codes,
  question: { state: row.state, proposalHash: row.item_hash },
  reason: row.reason ?? undefined,
  answeredBy: row.answered_by ?? undefined,
  scenarioRef: row.scenario_ref,
  seat: row.seat,
  proof: row.proof
})

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex")

/** The hash of a code of a link: it cannot be guessed without the link. */
export const codeHash = (token: string, code: string): string =>
  createHash("sha256").update(`${token}:${code}`).digest("hex")

/** The rows of personal links, by the hashes of their tokens. */
export class LinkRows extends Context.Service<LinkRows, Effect.Success<typeof make>>()("runplane/launcher/LinkRows") {
  static readonly layer = Layer.effect(
    LinkRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const ms = (column: string) => sql.literal(`(extract(epoch FROM ${column}) * 1000)::float8`)
  const bytes = (hex: string) => sql`decode(${hex}::text, 'hex')`
  const isOf = (token: string) => sql`token_sha256 = ${bytes(hashOf(token))}`
  const at = (unixMs: number) => sql`to_timestamp(${unixMs}::float8 / 1000)`

  return {
    add: (token: string, link: Pick<FoundLink, "item" | "person" | "proposalHash" | "expiresAtUnixMs">) =>
      sql`
        INSERT INTO people.links (token_sha256, item, person, proposal_hash, expires_at)
        VALUES (${bytes(hashOf(token))}, ${link.item}::uuid, ${link.person}, ${link.proposalHash},
          ${at(link.expiresAtUnixMs)})`,

    /** The link of a token; undefined for none. `isLocked`: no other transaction counts a code meanwhile. */
    find: (token: string, isLocked: boolean) =>
      sql`
        SELECT l.item::text AS item, l.person, l.proposal_hash, ${ms("l.expires_at")} AS expires_ms,
          encode(l.code_sha256, 'hex') AS code_sha256, ${ms("l.code_expires_at")} AS code_expires_ms, l.sent_codes,
          l.wrong_codes, i.state, i.proposal_hash AS item_hash, i.reason, a.person AS answered_by, s.scenario_ref,
          i.seat, coalesce(s.rules ->> 'proof', 'session') AS proof
        FROM people.links l JOIN people.items i ON i.id = l.item
        JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
        LEFT JOIN people.answers a ON a.item = i.id
        WHERE l.${isOf(token)} ${isLocked ? sql`FOR UPDATE OF l` : sql``}`.pipe(
        Effect.flatMap(([row]) => (row === undefined ? Effect.undefined : Effect.orDie(decodeRow(row)))),
        Effect.map((row) => row && linkOf(row))
      ),

    /** Notes a code that is sent now: it replaces the one before. */
    setCode: (token: string, sha256: string, expiresAtUnixMs: number) =>
      sql`
        UPDATE people.links SET code_sha256 = ${bytes(sha256)}, code_expires_at = ${at(expiresAtUnixMs)},
          sent_codes = sent_codes + 1
        WHERE ${isOf(token)}`,

    /** The last code was not sent: it counts for nothing. */
    dropCode: (token: string) =>
      sql`
        UPDATE people.links SET code_sha256 = NULL, code_expires_at = NULL, sent_codes = greatest(0, sent_codes - 1)
        WHERE ${isOf(token)}`,

    countWrong: (token: string) => sql`UPDATE people.links SET wrong_codes = wrong_codes + 1 WHERE ${isOf(token)}`
  }
})

/** A token as its page holds it: 32 bytes, base64url. */
export const TOKEN = /^[\w-]{43}$/
