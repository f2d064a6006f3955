import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { unreachedPersons } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { AnswerRefused, Answers } from "../../src/people/Answers.ts"
import { PeopleAudit } from "../../src/people/PeopleAudit.ts"
import { approval, ask, keysEnv, makeInboxStage, type StagedSeat } from "./InboxStage.ts"
import { FROM, refusing, smtpServer } from "./notices/NoticeStage.ts"
import {
  accepted,
  addSeat,
  ana,
  commit,
  itemsWhen,
  itemWhen,
  makeWorld,
  messagesOf,
  propose,
  SEAT,
  shown,
  start,
  vote
} from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"
const KEYS = {
  "key-ana": ["ana", "voter"],
  "key-bo": ["bo", "voter"],
  "key-eve": ["eve", "voter"],
  "key-ops": ["ops", "operator"]
} as const

const rejection = { act: "reject", reason: "the loss is not covered" } as const

/** A question over HTTP, and what a person does with it. */
const asked = Effect.fnUntraced(function* (rules: StagedSeat["rules"] = {}) {
  const stage = yield* makeInboxStage([{ session: "one", rules }], keysEnv(KEYS))
  yield* stage.propose("one")
  const id = yield* stage.openItem("one")
  const as = (key: keyof typeof KEYS) => ({ "x-api-key": key })
  const read = (key: keyof typeof KEYS = "key-ana") => ask(stage.url, "GET", `/inbox/${id}`, as(key))
  const press = (key: keyof typeof KEYS, body: unknown) => ask(stage.url, "POST", `/inbox/${id}/answers`, as(key), body)
  const items = stage.itemsOf("one")
  /** The messages of the seat in the session. */
  const acts = Effect.map(
    Effect.provideContext(messagesOf("one-of-the-tests-of-the-inbox"), stage.runtime),
    (messages) => messages.filter(({ sender }) => sender === SEAT)
  )
  const settled = until(items, ([item]) => item?.state === "accepted")
  return { ...stage, id, read, press, items, acts, settled }
})

/** A question without HTTP, whose service a test may end and start again. */
const askedInWorld = (rules: Parameters<typeof addSeat>[1] = {}) =>
  Effect.gen(function* () {
    yield* addSeat(SESSION, rules)
    yield* start(SESSION)
    yield* propose(SESSION)
    const item = yield* itemWhen(SESSION, "open")
    return { item, submitted: { content: rejection, proposalHash: item.proposalHash, basis: yield* shown(SESSION) } }
  })

layer(NodeFileSystem.layer, { excludeTestServices: true })("a known fault of approvals:", (it) => {
  it.effect("changed subject", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { item, submitted } = yield* askedInWorld()
        yield* propose(SESSION, "p2")
        const items = yield* itemsWhen(SESSION, (all) => all.some(({ state }) => state === "stale"))
        const error = yield* Effect.flip(Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted)))
        assert.strictEqual(error instanceof AnswerRefused && error.why._tag, "stale")
        const other = items.find(({ id, state }) => state === "open" && id !== item.id)
        const moved = yield* Effect.flip(
          Effect.flatMap(Answers, ({ submit }) => submit(other?.id ?? "", ana, submitted))
        )
        assert.strictEqual(moved instanceof AnswerRefused && moved.why._tag, "stale", "the hash is of another subject")
        assert.lengthOf(yield* accepted(SESSION), 0)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("replayed yes", () =>
    Effect.gen(function* () {
      const { acts, press, read, settled } = yield* asked()
      const yes = approval((yield* read()).body)
      assert.strictEqual((yield* press("key-ana", yes)).status, 200)
      yield* settled
      for (let again = 0; again < 20; again += 1) assert.strictEqual((yield* press("key-ana", yes)).status, 200)
      assert.lengthOf(yield* acts, 1)
      const another = yield* asked()
      assert.strictEqual((yield* another.press("key-ana", yes)).body.errorCode, "BASIS_UNKNOWN")
      assert.lengthOf(yield* another.acts, 0)
    })
  )

  it.effect("link fetched by a scanner", () =>
    Effect.gen(function* () {
      const { acts, id, items, url } = yield* asked()
      const paths = [`/inbox/${id}`, `/inbox/${id}/answers`, `/inbox/${id}?act=approve`]
      for (const path of paths) {
        for (const accept of ["text/html", "application/json", "*/*"]) {
          yield* Effect.forEach(
            Array.from({ length: 12 }),
            () => ask(url, "GET", path, { accept, "x-api-key": "key-ana" }),
            { concurrency: 6 }
          )
        }
      }
      assert.deepInclude((yield* items)[0], { state: "open", given: undefined })
      assert.lengthOf(yield* acts, 0)
    })
  )

  it.effect("two presses", () =>
    Effect.gen(function* () {
      const { acts, press, read, settled } = yield* asked()
      const yes = approval((yield* read()).body)
      const both = yield* Effect.all([press("key-ana", yes), press("key-ana", yes)], { concurrency: 2 })
      assert.deepStrictEqual(
        both.map(({ status }) => status),
        [200, 200]
      )
      yield* settled
      assert.lengthOf(yield* acts, 1)
    })
  )

  it.effect("two people", () =>
    Effect.gen(function* () {
      const { acts, press, read, settled } = yield* asked()
      const { body } = yield* read()
      const both = yield* Effect.all(
        [press("key-ana", approval(body)), press("key-bo", { ...approval(body), act: "reject" })],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(both.map(({ status }) => status).sort(), [200, 409])
      const [won] = both.filter(({ status }) => status === 200)
      const [lost] = both.filter(({ status }) => status === 409)
      assert.strictEqual(lost?.body.metadata.by, won?.body.given.by)
      yield* settled
      assert.lengthOf(yield* acts, 1)
    })
  )

  it.effect("press after restart", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { item, submitted } = yield* Effect.provide(askedInWorld(), layer())
      yield* Effect.gen(function* () {
        const press = Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted))
        yield* until(Effect.result(press), ({ _tag }) => _tag === "Success")
        yield* itemWhen(SESSION, "accepted")
      }).pipe(Effect.provide(layer()))
      yield* Effect.gen(function* () {
        const press = Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted))
        yield* until(Effect.result(press), ({ _tag }) => _tag === "Success")
        assert.lengthOf(yield* until(accepted(SESSION), (all) => all.length > 0), 1)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("unauthorised press", () =>
    Effect.gen(function* () {
      const { acts, id, items, press, read, url } = yield* asked()
      const yes = approval((yield* read()).body)
      assert.strictEqual((yield* press("key-eve", yes)).status, 403, "whom the question does not name")
      assert.strictEqual((yield* press("key-ops", yes)).status, 403, "an operator that is not assigned")
      assert.strictEqual((yield* ask(url, "POST", `/inbox/${id}/answers`, {}, yes)).status, 401)
      assert.deepInclude((yield* items)[0], { state: "open", given: undefined })
      assert.lengthOf(yield* acts, 0)
    })
  )

  it.effect("question never delivered", () =>
    Effect.gen(function* () {
      const mails = yield* smtpServer(refusing("ana@example.org", "bo@example.org"))
      const stage = yield* makeInboxStage(
        [{ session: "one" }],
        { ...keysEnv(KEYS), LAUNCHER_SMTP_URL: mails.url, LAUNCHER_SMTP_FROM: FROM },
        { directory: "people: { ana: { email: ana@example.org }, bo: { email: bo@example.org } }" }
      )
      const { sql, url } = stage
      yield* stage.propose("one")
      const id = yield* stage.openItem("one")
      // The question says so to its reader, the audit to an operator, the record to all who follow the run.
      const entry = sql<{ readonly reason: string }>`
        SELECT detail ->> 'reason' AS reason FROM people.audit WHERE action = 'item.undelivered' AND item = ${id}::uuid`
      const [reported] = yield* until(entry, (found) => found.length > 0)
      assert.match(reported?.reason ?? "", /ana: .*no mailbox; bo: .*no mailbox/)
      const { body } = yield* ask(url, "GET", `/inbox/${id}`, { "x-api-key": "key-ana" })
      assert.match(unreachedPersons(body.notices) ?? "", /^no notice reached ana: .*bo: /)
      const key = `people.item:${id}:undelivered`
      assert.lengthOf(yield* sql`SELECT FROM people.records WHERE idempotency_key = ${key}`, 1)
      assert.lengthOf(mails.received, 0)
    })
  )

  it.effect("escalation to no person", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        // Rita is the requester, whom four eyes keep from answering; the group has no member.
        const { item } = yield* askedInWorld({
          deadline: "4h",
          escalate: [
            { after: "1h", to: ["person:rita"] },
            { after: "2h", to: ["group:empty"] }
          ]
        })
        const { page } = yield* PeopleAudit
        const lines = yield* page({ item: item.id, actor: undefined, before: undefined, limit: 50 })
        const unreachable = lines.filter(({ action }) => action === "item.unreachable")
        // At once, when the question opens, and not at the step or at the deadline.
        assert.lengthOf(unreachable, 2)
        assert.isTrue(lines.every(({ action }) => action !== "item.escalated"))
        assert.include(JSON.stringify(unreachable), "rita is the requester of the run")
        assert.include(JSON.stringify(unreachable), "group:empty")
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("time-out that approves", () =>
    Effect.gen(function* () {
      for (const onDeadline of ["nothing", "abstain", "reject"] as const) {
        const { layer } = yield* makeWorld
        yield* Effect.gen(function* () {
          yield* addSeat(SESSION, { deadline: "1s", onDeadline })
          yield* start(SESSION)
          yield* propose(SESSION)
          yield* itemWhen(SESSION, onDeadline === "nothing" ? "expired" : "accepted")
          const votes = (yield* accepted(SESSION)).map(({ statement }) => statement.vote)
          assert.deepStrictEqual(votes, onDeadline === "nothing" ? [] : [onDeadline.toUpperCase()])
        }).pipe(Effect.provide(layer()))
      }
    })
  )

  it.effect("time-out shown as a refusal", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION, { deadline: "1s", onDeadline: "reject" })
        yield* start(SESSION)
        yield* propose(SESSION)
        const item = yield* itemWhen(SESSION, "accepted")
        assert.isUndefined(item.given?.person)
        const [act] = yield* accepted(SESSION)
        assert.match(act?.statement.reason ?? "", /^no answer by /)
        assert.notMatch(act?.statement.reason ?? "", /refus|reject|person/)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("approval skipped by the model", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { item, submitted } = yield* askedInWorld()
        // The session has no policy that needs the seat: its agents may commit without it.
        yield* vote(SESSION, "a")
        yield* commit(SESSION)
        const closed = yield* itemWhen(SESSION, "withdrawn")
        assert.strictEqual(closed.reason, "the session is RESOLVED")
        assert.isUndefined(closed.given)
        const error = yield* Effect.flip(Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted)))
        assert.strictEqual(error instanceof AnswerRefused && error.why._tag, "gone")
        assert.deepStrictEqual(
          (yield* messagesOf(SESSION)).filter(({ sender }) => sender === SEAT),
          []
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.effect("act missing in the audit", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { item, submitted } = yield* askedInWorld()
        yield* Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted))
        yield* itemWhen(SESSION, "accepted")
        const [act] = yield* accepted(SESSION)
        const { page } = yield* PeopleAudit
        const lines = yield* page({ item: item.id, actor: undefined, before: undefined, limit: 50 })
        assert.deepStrictEqual(
          lines.toReversed().map(({ action, actor }) => [action, actor]),
          [
            ["item.created", "service"],
            ["item.opened", "service"],
            ["item.answered", "ana"],
            ["item.accepted", "service"]
          ]
        )
        const [, answered] = lines
        assert.deepInclude(answered?.detail, { act: "reject" })
        assert.strictEqual(act?.messageId, (yield* itemWhen(SESSION, "accepted")).answer?.messageId)
      }).pipe(Effect.provide(layer()))
    })
  )
})
