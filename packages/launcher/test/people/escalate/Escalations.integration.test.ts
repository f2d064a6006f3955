import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import type { SeatText } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { Answers, type SignedIn } from "../../../src/people/Answers.ts"
import { Delegations } from "../../../src/people/escalate/Delegations.ts"
import { Inbox } from "../../../src/people/Inbox.ts"
import { countPeople } from "../../../src/people/PeopleCounts.ts"
import { PeopleErasures } from "../../../src/people/PeopleErasures.ts"
import { Returns } from "../../../src/people/Returns.ts"
import { layerPersons } from "../SeatNames.ts"
import { addSeat, ana, bo, commit, itemWhen, makeWorld, propose, SEAT, shown, start, vote } from "../SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"
const person = (id: string): SignedIn => ({ ...ana, id })
const PEOPLE = { lea: ["leads"], rita: ["board"] }

/** An open question of a seat with these rules. */
const opened = Effect.fnUntraced(function* (rules: Partial<SeatText>) {
  yield* addSeat(SESSION, { assign: ["person:ana"], ...rules })
  yield* start(SESSION)
  yield* propose(SESSION)
  return yield* itemWhen(SESSION, "open")
})

const steps = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{ readonly step: number; readonly cause: string; readonly reach: string; readonly why: string | null }>`
    SELECT step, cause, reach, why FROM people.escalations ORDER BY made_at, step`
)
const actions = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{ readonly action: string; readonly detail: Readonly<Record<string, unknown>> }>`
    SELECT action, detail FROM people.audit WHERE action ~ 'escalated|unreachable|delegation' ORDER BY id`
)
/** The events of the records of the question, with the step of an escalation. */
const recorded = Effect.map(
  Effect.flatMap(
    PgClient.PgClient,
    (sql) => sql<{ readonly key: string }>`SELECT idempotency_key AS key FROM people.records ORDER BY id`
  ),
  (rows) => rows.map(({ key }) => key.split(":").slice(2).join(" "))
)

const showTo = (id: string, who: SignedIn) => Effect.flatMap(Inbox, (inbox) => inbox.show(who, id))

const submit = Effect.fnUntraced(function* (id: string, proposalHash: string, who: SignedIn) {
  const answers = yield* Answers
  const basis = yield* until(shown(SESSION), ({ ordinal }) => ordinal === 2)
  return yield* Effect.result(
    answers.submit(id, who, { content: { act: "reject", reason: "no" }, basis, proposalHash })
  )
})

const delegate = (by: string, to: string, forMs = 60_000) =>
  Effect.gen(function* () {
    const delegations = yield* Delegations
    const now = yield* delegations.now
    return yield* delegations.add(person(by), {
      to,
      fromUnixMs: undefined,
      untilUnixMs: now + forMs,
      scenarios: undefined,
      reason: "on leave in Rome"
    })
  })

describe("the escalation of an item", () => {
  it.live("adds persons by time, each step once, also over a restart, and keeps those from before", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const layer = world.layer(undefined, undefined, layerPersons(PEOPLE))
      const rules: Partial<SeatText> = {
        escalate: [
          { after: "1s", to: ["group:leads"] },
          { after: "2s", to: ["person:cro"] },
          { after: "2d", to: ["person:late"] }
        ]
      }
      const id = yield* Effect.gen(function* () {
        const item = yield* opened(rules)
        assert.isUndefined(yield* showTo(item.id, person("cro")), "no step is due")
        yield* until(steps, ({ length }) => length > 0)
        return item.id
      }).pipe(Effect.provide(layer))
      // The second step becomes due while no service runs, or in the first one.
      yield* Effect.gen(function* () {
        yield* until(steps, ({ length }) => length === 2)
        const sql = yield* PgClient.PgClient
        yield* sql`SELECT pg_sleep(1.2)`
        assert.deepStrictEqual(
          (yield* steps).map(({ cause, reach, step }) => [step, cause, reach]),
          [
            [0, "time", "persons"],
            [1, "time", "persons"]
          ]
        )
        const known = { ...person("lea"), groups: ["leads"] }
        for (const who of [ana, known, person("cro")]) {
          const item = yield* until(showTo(id, who), (found) => (found?.acts.length ?? 0) > 0)
          assert.strictEqual(item?.right, "answer", who.id)
        }
        assert.isUndefined(yield* showTo(id, person("late")))
        assert.deepStrictEqual(yield* recorded, ["opened", "escalated 1", "escalated 2"])
        assert.deepStrictEqual(
          (yield* actions).map(({ action, detail }) => [action, detail["step"]]),
          [
            ["item.escalated", 1],
            ["item.escalated", 2]
          ]
        )
        const item = yield* itemWhen(SESSION, "open")
        yield* submit(id, item.proposalHash, person("cro"))
        yield* itemWhen(SESSION, "accepted")
        const [answer] = yield* sql<{ readonly content: { readonly escalations: ReadonlyArray<{ step: number }> } }>`
          SELECT content FROM people.records WHERE kind = 'people.answer'`
        assert.deepStrictEqual(
          answer?.content.escalations.map(({ step }) => step),
          [1, 2]
        )
      }).pipe(Effect.provide(world.layer(undefined, undefined, layerPersons(PEOPLE))))
    })
  )

  it.live("to no person is noted when the item opens, and once more when the step comes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* opened({
          escalate: [
            { after: "1s", to: ["group:empty", "person:rita"] },
            { after: "2d", to: ["group:board"] },
            { after: "3d", to: ["group:leads"] }
          ]
        })
        assert.includeMembers(yield* recorded, ["opened", "unreachable 1", "unreachable 2"])
        const [made] = yield* until(steps, ({ length }) => length === 1)
        assert.deepStrictEqual(made, {
          ...{ step: 0, cause: "time", reach: "none" },
          why: "rita is the requester of the run; group:empty has no member"
        })
        assert.deepStrictEqual(yield* recorded, ["opened", "unreachable 1", "unreachable 2", "escalated 1"])
        const counts = yield* Effect.flatMap(PgClient.PgClient, countPeople)
        assert.deepInclude(counts, { escalated_none: 1, escalated_persons: 0, escalated_unknown: 0, unreachable: 2 })
      }).pipe(Effect.provide(world.layer(undefined, undefined, layerPersons(PEOPLE))))
    })
  )

  it.live("to a group of tokens is unknown until a member signs in, and no person is called missing before", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const persons = layerPersons({}, { hasTokens: true, isLocal: false })
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`
          INSERT INTO people.sign_ins (token_sha256, person, role, is_voter, groups, expires_at)
          VALUES ('\\x00', 'tom', 'viewer', true, '["traders"]', now() + interval '1 hour')`
        yield* opened({
          escalate: [
            { after: "1s", to: ["group:leads"] },
            { after: "2s", to: ["group:traders"] }
          ]
        })
        const made = yield* until(steps, ({ length }) => length === 2)
        assert.deepStrictEqual(
          made.map(({ reach, why }) => [reach, why]),
          [
            ["unknown", "no member of group:leads who may answer is known, and only a token can show one"],
            ["persons", null]
          ]
        )
        assert.deepStrictEqual(yield* recorded, ["opened", "escalated 1", "escalated 2"])
      }).pipe(Effect.provide(world.layer(undefined, undefined, persons)))
    })
  )
})

describe("a delegation", () => {
  it.live("lets the delegate answer for its author, and the record names both", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id, proposalHash } = yield* opened({})
        assert.isUndefined(yield* showTo(id, bo))
        const refused = yield* submit(id, proposalHash, bo)
        assert.strictEqual(refused._tag, "Failure")
        const delegation = yield* delegate("ana", "bo")
        yield* delegate("bo", "eve")
        const item = yield* until(showTo(id, bo), (found) => (found?.acts.length ?? 0) > 0)
        assert.strictEqual(item?.by?.by.id, "ana")
        assert.deepStrictEqual(
          item?.delegations.map((one) => [one.delegation.id, one.right]),
          [[delegation.id, "answer"]]
        )
        assert.isUndefined(yield* showTo(id, person("eve")), "a delegate passes nothing on")
        const listed = yield* Effect.flatMap(Inbox, (inbox) =>
          inbox.list(bo, { states: ["open"], seat: undefined, after: undefined, limit: 10 })
        )
        assert.deepStrictEqual(
          listed.map((row) => row.id),
          [id]
        )
        const returns = yield* Returns
        const passed = yield* Effect.flip(returns.submit(id, bo, { to: "person:eve", reason: "please" }))
        assert.deepInclude(passed, { why: { _tag: "delegate", by: "ana" } })
        const answered = yield* submit(id, proposalHash, bo)
        assert.strictEqual(answered._tag, "Success")
        const after = yield* itemWhen(SESSION, "accepted")
        assert.deepInclude(after.given, { person: "bo", onBehalfOf: "ana" })
        const sql = yield* PgClient.PgClient
        const [record] = yield* sql`
          SELECT content ->> 'person' AS person, content ->> 'onBehalfOf' AS by
          FROM people.records WHERE kind = 'people.answer'`
        assert.deepStrictEqual(record, { person: "bo", by: "ana" })
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("that was revoked gives no right, and an answer in progress delays the revocation", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id, proposalHash } = yield* opened({})
        const { id: delegation } = yield* delegate("ana", "bo")
        const delegations = yield* Delegations
        const sql = yield* PgClient.PgClient
        const held = yield* Deferred.make<void>()
        const order: Array<string> = []
        // As an answer holds it: the revocation waits until the transaction ends.
        const answering = sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT FROM people.delegations WHERE id = ${delegation}::uuid FOR SHARE`
            yield* Deferred.succeed(held, undefined)
            yield* until(sql`SELECT FROM pg_locks WHERE NOT granted`, ({ length }) => length > 0)
            order.push("answered")
          })
        )
        const revoking = Deferred.await(held).pipe(
          Effect.andThen(delegations.revoke(ana, delegation)),
          Effect.andThen(Effect.sync(() => order.push("revoked")))
        )
        yield* Effect.all([answering, revoking], { concurrency: "unbounded", discard: true })
        assert.deepStrictEqual(order, ["answered", "revoked"])
        const refused = yield* submit(id, proposalHash, bo)
        assert.strictEqual(refused._tag, "Failure")
        assert.isUndefined(yield* showTo(id, bo))
        const again = yield* Effect.flip(delegations.revoke(ana, delegation))
        assert.deepInclude(again, { why: { _tag: "over", state: "revoked" } })
        const other = yield* Effect.flip(delegations.revoke(bo, delegation))
        assert.deepInclude(other, { why: { _tag: "unknown" } })
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("to a person who may not answer is refused when the item opens, and makes the first step at once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* delegate("ana", "rita")
        const { id } = yield* opened({ escalate: [{ after: "2d", to: ["person:cro"] }] })
        assert.deepStrictEqual(yield* steps, [{ step: 0, cause: "delegation", reach: "persons", why: null }])
        assert.deepStrictEqual(
          (yield* actions).map(({ action }) => action),
          ["delegation.created", "delegation.refused", "item.escalated"]
        )
        const item = yield* showTo(id, ana)
        assert.deepStrictEqual(
          item?.delegations.map(({ delegation: { to }, right }) => [to, right]),
          [["rita", "is the requester"]]
        )
        assert.strictEqual((yield* showTo(id, person("rita")))?.right, "is the requester")
      }).pipe(Effect.provide(world.layer(undefined, undefined, layerPersons(PEOPLE))))
    })
  )

  it.live("to a person who may not answer, without a step, is an alert", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* delegate("ana", "rita")
        yield* opened({})
        assert.deepStrictEqual(yield* steps, [])
        assert.deepStrictEqual(yield* recorded, ["opened", "unreachable none"])
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("ends by its time, and loses its reason with the session that it was used in", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id, proposalHash } = yield* opened({})
        yield* delegate("ana", "bo")
        const { id: other } = yield* delegate("ana", "eve", 1_500)
        const reading = showTo(id, person("eve"))
        assert.isDefined(yield* reading)
        yield* until(reading, (found) => found === undefined)
        yield* submit(id, proposalHash, bo)
        yield* itemWhen(SESSION, "accepted")
        yield* vote(SESSION, "a")
        yield* vote(SESSION, "b")
        yield* commit(SESSION)
        const sql = yield* PgClient.PgClient
        yield* until(
          sql`SELECT FROM people.seats WHERE seat = ${SEAT} AND ended_at IS NOT NULL`,
          ({ length }) => length === 1
        )
        yield* sql`UPDATE people.records SET ended_at = now()`
        const erased = yield* Effect.flatMap(PeopleErasures, ({ erase }) => erase(SESSION, "root", "request 1"))
        assert.strictEqual(erased.delegations, 1)
        const reasons = sql<{ readonly id: string; readonly reason: string }>`
          SELECT id::text AS id, reason FROM people.delegations ORDER BY reason`
        assert.deepStrictEqual(
          (yield* reasons).map(({ reason }) => reason),
          ["", "on leave in Rome"]
        )
        const delegations = yield* Delegations
        assert.strictEqual(yield* delegations.expire(30), 0)
        yield* sql`
          UPDATE people.delegations SET from_at = now() - interval '40 days', until_at = now() - interval '31 days'
          WHERE id = ${other}::uuid`
        assert.strictEqual(yield* delegations.expire(30), 1)
        assert.deepStrictEqual(
          (yield* reasons).map(({ reason }) => reason),
          ["", ""]
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("has its bounds: no more than 100 that are not over, of at most 90 days, to another person", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const delegations = yield* Delegations
        const own = yield* Effect.flip(delegate("ana", "Ana"))
        assert.deepInclude(own, {
          why: { _tag: "invalid", field: "to", message: "a person does not delegate to itself" }
        })
        const long = yield* Effect.flip(delegate("ana", "bo", 91 * 86_400_000))
        assert.strictEqual(long._tag === "DelegationRefused" && long.why._tag === "invalid" && long.why.field, "until")
        const all = yield* Effect.forEach(Array.from({ length: 105 }), () => Effect.result(delegate("ana", "bo")), {
          concurrency: 8
        })
        assert.lengthOf(
          all.filter(({ _tag }) => _tag === "Success"),
          100
        )
        assert.strictEqual((yield* delegations.of("bo")).lists.received.length, 100)
      }).pipe(Effect.provide(layer()))
    })
  )
})
