import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { ItemState } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { AnswerRefused, Answers, type Submitted } from "../../src/people/Answers.ts"
import { Inbox } from "../../src/people/Inbox.ts"
import {
  accepted,
  addContext,
  addSeat,
  ana,
  HANDOFF,
  itemsWhen,
  itemWhen,
  makeWorld,
  offer,
  propose,
  QUORUM,
  request,
  shown,
  start
} from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

const submit = (content: Submitted["content"]) =>
  Effect.gen(function* () {
    const item = yield* itemWhen(SESSION, "open")
    const submitted = { content, proposalHash: item.proposalHash, basis: yield* shown(SESSION) }
    const answers = yield* Answers
    return { item, submitted, answer: answers.submit(item.id, ana, submitted) }
  })

describe("a seat of a quorum", () => {
  it.live("sends its ballot about the request", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION, {}, QUORUM)
        yield* start(SESSION, ["lead", "a", "officer"], QUORUM)
        yield* request(SESSION)
        const { answer } = yield* submit({ act: "approve", reason: "within the budget" })
        yield* answer
        yield* itemWhen(SESSION, "accepted")
        const [message] = yield* accepted(SESSION)
        assert.strictEqual(message?.statement.type, "Approve")
        assert.strictEqual(message?.statement.proposalId, "q1")
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("a seat of a handoff", () => {
  it.live("accepts an offer, and not one that has got a context since it was read", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION, {}, HANDOFF)
        yield* start(SESSION, ["lead", "officer"], HANDOFF)
        yield* offer(SESSION)
        const first = yield* submit({ act: "accept", reason: "I take it" })
        yield* addContext(SESSION)
        const [, second] = yield* itemsWhen(SESSION, (items) => items[1]?.state === "open")
        const refusal = yield* Effect.flip(first.answer)
        assert.strictEqual(refusal instanceof AnswerRefused ? refusal.why._tag : "", "stale")
        assert.lengthOf(yield* accepted(SESSION), 0)
        const answers = yield* Answers
        const submitted = { ...first.submitted, basis: yield* shown(SESSION) }
        yield* answers.submit(second?.id ?? "", ana, submitted)
        yield* itemWhen(SESSION, "accepted", 1)
        const [message] = yield* accepted(SESSION)
        assert.strictEqual(message?.statement.type, "HandoffAccept")
        // One nonce of a subject: both items have the same hash.
        assert.strictEqual(second?.proposalHash, first.item.proposalHash)
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("an inbox with 500 open items", () => {
  it.live("is read page by page, each item once", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION)
        yield* start(SESSION)
        yield* propose(SESSION)
        yield* itemWhen(SESSION, "open")
        const sql = yield* PgClient.PgClient
        // Copies of the item for 2,000 other sessions, 500 of them for ana.
        yield* sql`
          INSERT INTO people.seats (session_id, seat, mode_name, scenario_ref, rules, seats, ended_at)
          SELECT 's' || n, seat, mode_name, scenario_ref,
            CASE WHEN n % 4 = 0 THEN rules ELSE jsonb_set(rules, '{assign}', '["person:other"]') END, seats, now()
          FROM people.seats, generate_series(1, 2000) AS n`
        yield* sql`
          INSERT INTO people.items (id, session_id, seat, subject, state, hashed, proposal_hash, payload, payload_type,
            basis_ordinal, opened_at)
          SELECT gen_random_uuid(), 's' || n, seat, subject, state, hashed, proposal_hash, payload, payload_type,
            basis_ordinal, opened_at
          FROM people.items, generate_series(1, 2000) AS n`
        const inbox = yield* Inbox
        const query = { states: ["open"] as const, seat: undefined, after: undefined, limit: 100 }
        const pages: Array<string> = []
        let after: { readonly at: string; readonly id: string } | undefined
        for (let count = 0; count < 6; count += 1) {
          const page = yield* inbox.list(ana, { ...query, after })
          pages.push(...page.map(({ id }) => id))
          const last = page.at(-1)
          after = last && { at: last.created_at, id: last.id }
        }
        assert.strictEqual(new Set(pages).size, 501)
        assert.lengthOf(pages, 501)
        assert.lengthOf(yield* inbox.list(ana, { ...query, states: ItemState.literals, limit: 1_000 }), 501)
      }).pipe(Effect.provide(layer()))
    })
  )
})
