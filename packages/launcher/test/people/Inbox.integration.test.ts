import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { type Hashed, ItemState, proposalHash } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { Answers } from "../../src/people/Answers.ts"
import { Inbox } from "../../src/people/Inbox.ts"
import { sha256 } from "../../src/people/SeatSession.ts"
import { addSeat, ana, evaluate, itemWhen, makeWorld, propose, shown, start, vote } from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"
const everything = { states: ItemState.literals, seat: undefined, after: undefined, limit: 100 }

/** An open question with an evaluation and a vote of others. */
const opened = (rules: Parameters<typeof addSeat>[1] = {}) =>
  Effect.gen(function* () {
    yield* addSeat(SESSION, rules)
    yield* start(SESSION)
    yield* propose(SESSION)
    yield* evaluate(SESSION, "a")
    yield* vote(SESSION, "a")
    return yield* itemWhen(SESSION, "open")
  })

const show = (id: string, person = ana) => Effect.flatMap(Inbox, (inbox) => inbox.show(person, id))

describe("the inbox", () => {
  it.live("shows what an answer rests on, and withholds the votes of others until it is given", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* opened({ acts: ["object", "vote"] })
        const before = yield* show(id)
        assert.deepStrictEqual(before?.payload, { proposalId: "p1", option: "option p1" })
        assert.deepStrictEqual(
          before?.messages.map(({ by, type }) => `${by} ${type}`),
          ["a Evaluation"]
        )
        assert.deepInclude(before?.basis, { ordinal: 4, withheld: [4] })
        assert.isUndefined(before?.consequences)
        assert.deepStrictEqual(before?.acts, ["approve", "reject"])
        assert.match(before?.closedActs ?? "", /no objection/)
        assert.notInclude(JSON.stringify(before), 'APPROVE","reason')
        const answer = { content: { act: "reject", reason: "no" }, basis: yield* shown(SESSION) } as const
        const proposalHash = before?.row.proposal_hash ?? ""
        yield* Effect.flatMap(Answers, (answers) => answers.submit(id, ana, { ...answer, proposalHash }))
        yield* itemWhen(SESSION, "accepted")
        const after = yield* show(id)
        assert.deepStrictEqual(
          after?.messages.map(({ by, type, vote }) => `${by} ${type} ${vote}`),
          ["a Evaluation undefined", "a Vote APPROVE", "officer Vote REJECT"]
        )
        assert.deepStrictEqual(after?.acts, [])
        assert.isDefined(after?.consequences)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("shows votes and what each act leads to where the seat reveals them before", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* opened({ reveal: "before" })
        const item = yield* show(id)
        assert.deepStrictEqual(item?.basis?.withheld, [])
        assert.isTrue(item?.messages.some(({ vote }) => vote === "APPROVE"))
        assert.deepStrictEqual(
          item?.consequences?.map(({ act }) => act),
          ["approve", "reject", "abstain"]
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("has the hash that its reader computes from the bytes of the proposal", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* opened()
        const item = yield* show(id)
        // As the browser does it: from the members and from the bytes, not from the stored digest.
        const bytes = Buffer.from(item?.row.payload ?? "", "base64")
        const payloadSha256 = Buffer.from(sha256(bytes)).toString("hex")
        const members = JSON.parse(JSON.stringify(item?.row.hashed))
        const hashed: Hashed = { ...members, subject: { ...members.subject, payloadSha256 } }
        assert.strictEqual(proposalHash(sha256, hashed), item?.row.proposal_hash)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("lists the items of the person and of its groups, page by page, and of no other", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION, { assign: ["group:risk", "person:ana"] })
        yield* start(SESSION)
        for (const id of ["p1", "p2", "p3"]) yield* propose(SESSION, id)
        yield* itemWhen(SESSION, "open", 2)
        const inbox = yield* Inbox
        const all = yield* inbox.list(ana, everything)
        const first = yield* inbox.list(ana, { ...everything, limit: 2 })
        const last = first[1]
        const after = last && { at: last.created_at, id: last.id }
        const rest = yield* inbox.list(ana, { ...everything, after })
        assert.deepStrictEqual(
          [...first, ...rest].map(({ id }) => id),
          all.map(({ id }) => id)
        )
        const count = (person: string, groups: ReadonlyArray<string> = []) =>
          Effect.map(inbox.list({ id: person, groups }, everything), ({ length }) => length)
        assert.strictEqual(yield* count("otto", ["risk"]), all.length)
        assert.strictEqual(yield* count("otto", ["legal"]), 0)
        assert.strictEqual(yield* count("risk"), 0)
        assert.isUndefined(yield* inbox.show({ ...ana, id: "otto" }, all[0]?.id ?? ""))
        assert.deepStrictEqual(yield* inbox.list(ana, { ...everything, states: ["expired"] }), [])
        assert.deepStrictEqual(yield* inbox.list(ana, { ...everything, seat: "other" }), [])
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("notes when an item was first seen and by whom, and nothing else", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { id } = yield* opened()
        assert.isNull((yield* show(id))?.row.seen_at)
        const seen = (yield* show(id))?.row.seen_at
        assert.isString(seen)
        yield* show(id)
        assert.strictEqual((yield* show(id))?.row.seen_at, seen)
        const sql = yield* PgClient.PgClient
        const rows = yield* sql`SELECT actor, action FROM people.audit ORDER BY id`
        assert.deepStrictEqual(
          rows.map(({ action, actor }) => [actor, action]),
          [
            ["service", "item.created"],
            ["service", "item.opened"],
            ["ana", "item.seen"]
          ]
        )
      }).pipe(Effect.provide(layer()))
    })
  )
})
