import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ACK_MS } from "../../src/http/slack/SlackRoutes.ts"
import { approval, ask, keysEnv, makeInboxStage, type StagedSeat, sessionOf } from "../people/InboxStage.ts"
import { commit, propose as proposeAgain } from "../people/SeatStage.ts"
import { makeFakeSlack, pressed, send, slackEnv, TEAM, withBot } from "./FakeSlack.ts"

const ANA = "U0ANA"
const BO = "U0BO"
const RITA = "U0RITA"
const ZOE = "U0ZOE"
const directory = `people:
  ana: { name: Ana Diaz, slack: ${ANA} }
  bo: { groups: [risk], slack: ${BO} }
  rita: { groups: [risk], slack: ${RITA} }
  zoe: { slack: ${ZOE} }
  two: { slack: U0TWO }
  twin: { slack: U0TWO }
`
const keys = keysEnv({ "key-ana": ["ana", "voter"], "key-bo": ["bo", "voter"] })
const rules = { assign: ["person:ana", "group:risk"], reason: "optional" } as const

const makeStage = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>> = slackEnv
) {
  const slack = yield* makeFakeSlack
  const stage = yield* makeInboxStage(
    seats.map((seat) => ({ ...seat, rules: { ...rules, ...seat.rules } })),
    { ...keys, ...env },
    { directory, slack: slack.addresses }
  )
  /** The value of the button that approves an open item. */
  const buttonOf = Effect.fnUntraced(function* (session: string, changes: object = {}) {
    const item = yield* stage.openItem(session)
    const { body } = yield* ask(stage.url, "GET", `/inbox/${item}`, { "x-api-key": "key-ana" })
    const { act, basis, proposalHash } = approval(body)
    return { item, body, value: JSON.stringify({ v: 1, item, act, proposalHash, basis, ...changes }) }
  })
  const press = (value: string, user: string, name: string) =>
    send(stage.url, pressed(value, user, slack.responseUrl(name)))
  return { ...stage, slack, buttonOf, press }
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("a press in Slack", (it) => {
  it.effect(
    "counts with the signature of Slack alone, in time, unchanged, of this workspace, and by an assigned person",
    () =>
      Effect.gen(function* () {
        const { buttonOf, itemsOf, press, propose, slack, url } = yield* makeStage([{ session: "one" }])
        yield* propose("one")
        const { item, value } = yield* buttonOf("one")
        const good = pressed(value, ANA, slack.responseUrl("spoilt"))
        const body = `payload=${encodeURIComponent(JSON.stringify(good))}`
        for (const [spoilt, status] of [
          [{ secret: "other" }, 403],
          [{ ageSeconds: 301 }, 403],
          [{ ageSeconds: -400 }, 403],
          [{ sent: body.replace("approve", "reject") }, 403],
          [{ headers: { "x-slack-signature": "" } }, 403],
          [{ sent: `payload=${"x".repeat(70_000)}` }, 413]
        ] as const) {
          assert.strictEqual((yield* send(url, good, spoilt)).status, status, JSON.stringify(spoilt).slice(0, 80))
        }
        assert.strictEqual((yield* send(url, "{}")).status, 400)
        assert.strictEqual((yield* ask(url, "GET", "/inbox/slack", { "x-api-key": "key-ana" })).status, 400)
        assert.lengthOf(slack.calls, 0)

        const foreign = { ...pressed(value, ANA, slack.responseUrl("foreign"), "T0OTHER") }
        assert.strictEqual((yield* send(url, foreign)).status, 200)
        assert.include(yield* slack.sentence("foreign"), "one workspace")
        const guest = { ...pressed(value, ANA, slack.responseUrl("guest")), user: { id: ANA, team_id: "T0OTHER" } }
        assert.strictEqual((yield* send(url, guest)).status, 200)
        assert.include(yield* slack.sentence("guest"), "one workspace")

        for (const [name, sent, user, text] of [
          ["stranger", value, "U0NOBODY", "the directory of this scenario names no person"],
          ["twins", value, "U0TWO", "or several"],
          ["unassigned", value, ZOE, "you are not assigned to this item"],
          ["requester", value, RITA, "you are the requester"],
          ["garbage", "approve", ANA, "not one of a question here"],
          ["unknown", value.replace(item, item.replace(/^......../, "00000000")), ANA, "not one of a question here"],
          ["hash", (yield* buttonOf("one", { proposalHash: "0".repeat(64) })).value, ANA, "not the proposal"],
          ["basis", (yield* buttonOf("one", { basis: { ordinal: 1, sha256: "0".repeat(64) } })).value, ANA, "basis"],
          ["act", (yield* buttonOf("one", { act: "accept" })).value, ANA, 'this seat has no "accept"']
        ] as const) {
          assert.strictEqual((yield* press(sent, user, name)).status, 200)
          assert.include(yield* slack.sentence(name), text)
        }
        const [before] = yield* itemsOf("one")
        assert.strictEqual(before?.state, "open")

        assert.strictEqual((yield* press(value, ANA, "right")).status, 200)
        assert.include(yield* slack.sentence("right"), 'Your answer "approve" is stored')
        const [after] = yield* until(itemsOf("one"), ([found]) => found?.state === "accepted")
        assert.strictEqual(after?.given?.person, "ana")
        assert.strictEqual(after?.given?.content.act, "approve")
        // No address that is not one of Slack is ever called.
        const elsewhere = { ...good, response_url: "http://127.0.0.1:9/steal" }
        assert.strictEqual((yield* send(url, elsewhere)).status, 200)
      }),
    120_000
  )

  it.effect(
    "always gets its sentence, and the message becomes what the question has become",
    () =>
      Effect.gen(function* () {
        const { buttonOf, itemsOf, press, propose, restart, rows, runtime, slack, url } = yield* makeStage([
          { session: "twice" },
          { session: "console" },
          { session: "expired", rules: { deadline: "8s" } },
          { session: "fresh", rules: { proof: "fresh" } },
          { session: "passkey", rules: { proof: "passkey" } },
          { session: "reason", rules: { reason: "required" } },
          { session: "stale" },
          { session: "withdrawn" },
          { session: "restart" }
        ])
        // Its button is read while it is open, whatever the machine does meanwhile.
        yield* propose("expired")
        const expired = yield* buttonOf("expired")
        for (const session of ["twice", "console", "fresh", "passkey", "reason", "stale", "withdrawn", "restart"]) {
          yield* propose(session)
        }

        const twice = yield* buttonOf("twice")
        yield* Effect.all([press(twice.value, ANA, "first"), press(twice.value, ANA, "second")], {
          concurrency: "unbounded"
        })
        for (const name of ["first", "second"]) assert.include(yield* slack.sentence(name), "is stored")
        assert.lengthOf(yield* itemsOf("twice"), 1)
        yield* press(twice.value, BO, "third")
        assert.include(yield* slack.sentence("third"), "ana has answered this item")

        const consoled = yield* buttonOf("console")
        const bo = { "x-api-key": "key-bo" }
        const { body: shown } = yield* ask(url, "GET", `/inbox/${consoled.item}`, bo)
        const given = yield* ask(url, "POST", `/inbox/${consoled.item}/answers`, bo, approval(shown))
        assert.strictEqual(given.status, 200, given.text)
        yield* press(consoled.value, ANA, "console")
        assert.include(yield* slack.sentence("console"), "bo has answered this item with approve")

        yield* until(itemsOf("expired"), ([item]) => item?.state === "expired")
        yield* press(expired.value, ANA, "late")
        assert.include(yield* slack.sentence("late"), "the item is closed: no answer by")
        assert.include(yield* slack.replaced("late"), "Expired: no answer by")

        const stale = yield* buttonOf("stale")
        yield* Effect.provideContext(proposeAgain(sessionOf("stale"), "p2"), runtime)
        yield* until(itemsOf("stale"), ([item]) => item?.state === "stale")
        yield* press(stale.value, ANA, "stale")
        assert.include(yield* slack.sentence("stale"), "the item is stale")
        assert.include(yield* slack.replaced("stale"), "The question that follows")

        const withdrawn = yield* buttonOf("withdrawn")
        yield* Effect.provideContext(commit(sessionOf("withdrawn")), runtime)
        yield* until(itemsOf("withdrawn"), ([item]) => item?.state === "withdrawn")
        yield* press(withdrawn.value, ANA, "withdrawn")
        assert.include(yield* slack.sentence("withdrawn"), "the item is closed")
        assert.include(yield* slack.replaced("withdrawn"), "Withdrawn: ")

        for (const proof of ["fresh", "passkey"]) {
          yield* press((yield* buttonOf(proof)).value, ANA, proof)
          assert.include(yield* slack.sentence(proof), "requires a sign-in")
        }
        const reason = yield* buttonOf("reason")
        yield* press(reason.value, ANA, "reason")
        assert.include(yield* slack.sentence("reason"), `/inbox/${reason.item}|Open the question>`)
        for (const session of ["fresh", "passkey", "reason"]) {
          const [item] = yield* itemsOf(session)
          assert.strictEqual(item?.state, "open")
        }

        const restarted = yield* buttonOf("restart")
        const after = yield* restart
        yield* until(
          ask(after, "GET", `/inbox/${restarted.item}`, { "x-api-key": "key-ana" }),
          ({ body }) => body.basis !== undefined
        )
        yield* send(after, pressed(restarted.value, ANA, slack.responseUrl("restart")))
        assert.include(yield* slack.sentence("restart"), "is stored")
        yield* until(itemsOf("restart"), ([item]) => item?.state === "accepted")
        const proofs = yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          return yield* sql`SELECT DISTINCT proof, channel FROM people.answers`
        }).pipe(Effect.provideContext(rows))
        assert.sameDeepMembers(
          [...proofs],
          [
            { proof: "slack", channel: "slack" },
            { proof: "session", channel: "api" }
          ]
        )
      }),
    120_000
  )

  it.effect(
    "is acknowledged within three seconds while the database is slow, and counts once it answers",
    () =>
      Effect.gen(function* () {
        const { buttonOf, itemsOf, press, propose, rows, slack } = yield* makeStage([{ session: "slow" }])
        yield* propose("slow")
        const { value } = yield* buttonOf("slow")
        const locked = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const lock = Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1 FROM people.seats FOR UPDATE`
              yield* Deferred.succeed(locked, undefined)
              yield* Deferred.await(release)
            })
          )
        }).pipe(Effect.provideContext(rows))
        const holder = yield* Effect.forkChild(lock)
        yield* Deferred.await(locked)
        // The lock is held until after the acknowledgement.
        assert.isAtMost(ACK_MS, 2_000)
        assert.strictEqual((yield* press(value, ANA, "slow")).status, 200)
        assert.include(yield* slack.sentence("slow"), "The service is slow")
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(holder)
        yield* until(slack.sentence("slow"), (text) => text.includes("is stored"))
        yield* until(itemsOf("slow"), ([item]) => item?.state === "accepted")
      }),
    120_000
  )

  it.effect(
    "opens a form for a reason, and the messages of all persons follow the question to its end",
    () =>
      Effect.gen(function* () {
        const { buttonOf, itemsOf, press, propose, slack, url } = yield* makeStage(
          [
            { session: "form", rules: { reason: "required" } },
            { session: "end", rules: { deadline: "4s" } }
          ],
          withBot
        )
        slack.fail(2)
        yield* propose("form")
        const { item, value } = yield* buttonOf("form")
        const posts = yield* slack.callsOf("/api/chat.postMessage", 2)
        assert.deepStrictEqual(posts.map(({ body }) => body.channel).sort(), [ANA, BO])
        assert.include(JSON.stringify(posts[0]?.body), value.replaceAll('"', '\\"'))

        yield* press(value, ANA, "form")
        const [opened] = yield* slack.callsOf("/api/views.open", 1)
        assert.strictEqual(opened?.authorization, "Bearer xoxb-of-the-tests")
        assert.strictEqual(opened?.body.trigger_id, "trigger")
        const submission = (reason: string) => ({
          type: "view_submission",
          team: { id: TEAM },
          user: { id: ANA },
          view: {
            private_metadata: opened?.body.view.private_metadata,
            state: { values: { reason: { reason: { type: "plain_text_input", value: reason } } } }
          }
        })
        const blank = yield* send(url, submission("  "))
        assert.strictEqual(blank.body.response_action, "errors")
        assert.include(blank.body.errors.reason, "requires one")
        assert.strictEqual((yield* send(url, submission("it is safe"))).status, 200)
        assert.include(yield* slack.sentence("form"), "is stored")
        const [answered] = yield* until(itemsOf("form"), ([found]) => found?.state === "accepted")
        assert.strictEqual(answered?.given?.content.reason, "it is safe")
        yield* until(
          Effect.sync(() =>
            slack.calls.filter(
              ({ body, path }) => path === "/api/chat.update" && JSON.stringify(body).includes("and on record")
            )
          ),
          (found) => new Set(found.map(({ body }) => body.channel)).size === 2
        )
        assert.include(JSON.stringify(slack.calls.at(-1)?.body), item)

        yield* propose("end")
        yield* slack.callsOf("/api/chat.postMessage", 4)
        yield* until(
          Effect.sync(() =>
            slack.calls.filter(({ body, path }) => path === "/api/chat.update" && body.text.startsWith("Expired"))
          ),
          (found) => new Set(found.map(({ body }) => body.channel)).size === 2
        )
      }),
    120_000
  )
})
