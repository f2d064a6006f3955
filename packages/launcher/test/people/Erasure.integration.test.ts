import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { ItemState } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { Answers } from "../../src/people/Answers.ts"
import { Inbox } from "../../src/people/Inbox.ts"
import { PeopleAudit } from "../../src/people/PeopleAudit.ts"
import { countPeople } from "../../src/people/PeopleCounts.ts"
import { PeopleErasures } from "../../src/people/PeopleErasures.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import {
  accepted,
  addSeat,
  ana,
  bo,
  commit,
  itemWhen,
  makeWorld,
  propose,
  SEAT,
  shown,
  start,
  vote
} from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"
const OTHER = "00000000-0000-4000-8000-000000000002"
const REASON = "Ann Lee has no cover"

/** An answered question of a session, which goes on. */
const answered = (session: string) =>
  Effect.gen(function* () {
    yield* addSeat(session)
    yield* start(session)
    yield* propose(session)
    const { id, proposalHash } = yield* itemWhen(session, "open")
    const answers = yield* Answers
    const submitted = {
      content: { act: "reject", reason: REASON },
      basis: yield* until(shown(session), ({ ordinal }) => ordinal === 2),
      proposalHash
    } as const
    yield* answers.submit(id, ana, submitted)
    yield* itemWhen(session, "accepted")
    return { id, submitted }
  })

/** Ends the session, and has the records of it at the control plane. */
const ended = (session: string) =>
  Effect.gen(function* () {
    yield* vote(session, "a")
    yield* vote(session, "b")
    yield* commit(session)
    const sql = yield* PgClient.PgClient
    yield* until(
      sql`SELECT seat FROM people.seats WHERE session_id = ${session} AND ended_at IS NOT NULL`,
      ({ length }) => length === 1
    )
    yield* sql`UPDATE people.records SET ended_at = now() WHERE session_id = ${session}`
  })

/** All text of all tables of the schema. */
const everything = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = ["seats", "subjects", "items", "answers", "audit", "records", "item_assignees"]
  const rows = yield* Effect.forEach(tables, (table) => sql`SELECT t::text AS line FROM ${sql(`people.${table}`)} AS t`)
  return rows.flat().map(({ line }) => String(line))
})

const hex = (text: string) => Buffer.from(text).toString("hex")

describe("the erasure of a session", () => {
  it.live("leaves no text and no hash of one, and keeps who answered what and when", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* answered(SESSION)
        yield* answered(OTHER)
        yield* ended(SESSION)
        const sql = yield* PgClient.PgClient
        const [before] = yield* sql<{
          readonly payload_sha256: string
          readonly subject: string
          readonly nonce: string
        }>`
          SELECT a.payload_sha256, i.hashed #>> '{subject,payloadSha256}' AS subject, encode(s.nonce, 'hex') AS nonce
          FROM people.answers a JOIN people.items i ON i.id = a.item
          JOIN people.subjects s ON s.session_id = i.session_id AND s.ordinal = i.subject WHERE i.id = ${id}::uuid`
        yield* sql`
          INSERT INTO people.links (token_sha256, item, person, proposal_hash, expires_at)
          SELECT sha256(id::text::bytea), id, 'dora', proposal_hash, now() FROM people.items`
        const texts = [hex(REASON), hex("option p1"), REASON]
        const hashes = [before?.payload_sha256 ?? "", before?.subject ?? "", before?.nonce ?? ""]
        const isOf = (session: string) => (line: string) => line.includes(session) || line.includes(id)
        const full = (yield* everything).join("\n")
        for (const text of [...texts, ...hashes]) assert.include(full, text)

        const { erase } = yield* PeopleErasures
        const erased = yield* erase(SESSION, "key:admin", "request 4711")
        assert.deepInclude(erased, { seats: 1, items: 1, answers: 1, nonces: 1 })
        const left = (yield* everything).filter(isOf(SESSION)).join("\n")
        for (const text of [...texts, ...hashes]) assert.notInclude(left, text)
        // The other session keeps its own.
        assert.lengthOf(yield* sql`SELECT item FROM people.links WHERE item <> ${id}::uuid`, 1)
        assert.lengthOf(yield* sql`SELECT item FROM people.links WHERE item = ${id}::uuid`, 0)
        for (const text of texts) assert.include((yield* everything).join("\n"), text)

        const [kept] = yield* sql`
          SELECT i.state, a.person, a.content ->> 'act' AS act, a.answered_at IS NOT NULL AS has_time
          FROM people.items i JOIN people.answers a ON a.item = i.id WHERE i.id = ${id}::uuid`
        assert.deepStrictEqual(kept, { state: "accepted", person: "ana", act: "reject", has_time: true })
        const inbox = yield* Inbox
        assert.isUndefined(yield* inbox.show(ana, id))
        const query = { states: ItemState.literals, seat: undefined, after: undefined, limit: 10 }
        assert.lengthOf(yield* inbox.list(ana, query), 1)
        const { page } = yield* PeopleAudit
        const all = { actor: undefined, before: undefined, item: undefined, limit: 1 }
        assert.deepInclude((yield* page(all))[0], { actor: "key:admin", action: "people.erase", item: null })
        assert.deepInclude((yield* page(all))[0]?.detail, { sessionId: SESSION, reason: "request 4711", items: 1 })
        assert.deepStrictEqual(yield* erase(SESSION, "key:admin", "again"), {
          ...{ seats: 0, items: 0, answers: 0, nonces: 0, records: 0, returns: 0, questions: 0, delegations: 0 }
        })
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("is refused while the session goes on, while records are not posted, and of an unknown session", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { erase, expire } = yield* PeopleErasures
        const why = Effect.map(Effect.flip(erase(SESSION, "key:admin", "4711")), (refused) =>
          refused._tag === "ErasureRefused" ? refused.why : refused
        )
        assert.deepStrictEqual(yield* why, { _tag: "no-session" })
        const { id } = yield* answered(SESSION)
        assert.deepStrictEqual(yield* why, { _tag: "not-over", seats: [SEAT] })
        yield* ended(SESSION)
        const sql = yield* PgClient.PgClient
        yield* sql`
          INSERT INTO people.records (session_id, item, idempotency_key, kind, label, content)
          VALUES (${SESSION}, ${id}::uuid, 'late', 'people.item', 'late', '{}')`
        assert.deepStrictEqual(yield* why, { _tag: "not-posted", records: 1 })
        yield* sql`UPDATE people.seats SET ended_at = now() - interval '31 days'`
        assert.deepStrictEqual(yield* expire(30), { sessions: 0, isMore: false })
        yield* sql`UPDATE people.records SET ended_at = now()`
        assert.deepStrictEqual(yield* expire(32), { sessions: 0, isMore: false })
        assert.deepStrictEqual(yield* expire(30), { sessions: 1, isMore: false })
        assert.deepStrictEqual(yield* expire(30), { sessions: 0, isMore: false })
        assert.notInclude((yield* everything).join("\n"), REASON)
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("the audit of questions", () => {
  it.live("has each refused answer with its actor and why, and not the reason that was written", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id, submitted } = yield* answered(SESSION)
        const answers = yield* Answers
        yield* Effect.flip(answers.submit(id, bo, submitted))
        yield* Effect.flip(answers.submit(id, { ...ana, id: "otto" }, submitted))
        const { page } = yield* PeopleAudit
        const refused = (yield* page({ actor: undefined, before: undefined, item: id, limit: 50 })).filter(
          ({ action }) => action === "answer.refused"
        )
        assert.deepStrictEqual(
          refused.map(({ actor, detail, seat, session_id }) => ({ actor, detail, seat, session_id })),
          [
            {
              ...{ actor: "otto", seat: SEAT, session_id: SESSION },
              detail: { act: "reject", why: "forbidden", right: "not assigned" }
            },
            { actor: "bo", seat: SEAT, session_id: SESSION, detail: { act: "reject", why: "answered", by: "ana" } }
          ]
        )
        assert.lengthOf(yield* accepted(SESSION), 1)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("is read page by page, the newest first", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* answered(SESSION)
        const { page } = yield* PeopleAudit
        const query = { actor: undefined, item: id, before: undefined }
        const all = yield* page({ ...query, limit: 50 })
        assert.includeMembers(
          all.map(({ action }) => action),
          ["item.created", "item.opened", "item.answered", "item.accepted"]
        )
        const first = yield* page({ ...query, limit: 2 })
        const rest = yield* page({ ...query, before: first[1]?.id, limit: 50 })
        assert.deepStrictEqual([...first, ...rest], [...all])
        assert.deepStrictEqual(
          (yield* page({ ...query, actor: "ana", limit: 50 })).map(({ action }) => action),
          ["item.answered"]
        )
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("passkeys", () => {
  it.live("lose what they have signed with the session, and their rows once they were deleted long ago", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* answered(SESSION)
        yield* ended(SESSION)
        yield* sql`UPDATE people.answers SET proof = 'passkey', passkey = '{"signed": "the text of ana"}'`
        yield* sql`
          INSERT INTO people.passkey_challenges (nonce, person, item, expires_at)
          SELECT decode('01', 'hex'), 'ana', item, now() + interval '1 minute' FROM people.answers`
        yield* sql`
          INSERT INTO people.passkeys (id, person, name, credential_id, public_key, rp_id, counter, enrolled_at, revoked_at)
          SELECT gen_random_uuid(), 'ana', name, name, '', 'h', 0, now() - interval '90 days', now() - deleted
          FROM (VALUES ('old', interval '31 days'), ('new', interval '29 days'), ('kept', NULL)) AS t (name, deleted)`
        const { erase, expire } = yield* PeopleErasures
        yield* erase(SESSION, "key:admin", "4711")
        assert.deepStrictEqual(yield* sql`SELECT passkey, proof FROM people.answers`, [
          { passkey: null, proof: "passkey" }
        ])
        assert.deepStrictEqual(yield* sql`SELECT nonce FROM people.passkey_challenges`, [])
        yield* expire(30)
        const names = yield* sql<{ readonly name: string }>`SELECT name FROM people.passkeys ORDER BY name`
        assert.deepStrictEqual(
          names.map(({ name }) => name),
          ["kept", "new"]
        )
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("the figures of questions", () => {
  it.live("are those of the rows, after a restart and after an erasure too", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const counts = Effect.flatMap(PgClient.PgClient, countPeople)
      const before = yield* Effect.gen(function* () {
        yield* answered(SESSION)
        yield* ended(SESSION)
        yield* addSeat(OTHER)
        yield* start(OTHER)
        yield* propose(OTHER)
        yield* itemWhen(OTHER, "open")
        const rows = yield* SeatRows
        assert.lengthOf(yield* rows.unfinished, 1)
        return yield* until(counts, ({ unposted }) => unposted === 0)
      }).pipe(Effect.provide(layer()))
      assert.deepInclude(before, { open: 1, waiting: 0, expired: 0, by_person: 1, by_deadline: 0, ids_taken: 0 })
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* counts, before)
        const { erase } = yield* PeopleErasures
        yield* erase(SESSION, "key:admin", "4711")
        assert.deepStrictEqual(yield* counts, before)
        const sql = yield* PgClient.PgClient
        yield* sql`
          UPDATE people.answers SET settled_at = NULL, answered_at = now() - interval '90 s'`
        assert.isAtLeast((yield* counts).oldest_seconds, 90)
      }).pipe(Effect.provide(layer()))
    })
  )
})
