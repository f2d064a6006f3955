import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { unreachedPersons } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { ask, keysEnv, makeInboxStage, type StagedSeat } from "../people/InboxStage.ts"
import { FROM, refusing, smtpServer } from "../people/notices/NoticeStage.ts"
import { makeFakeSlack, withBot } from "./FakeSlack.ts"

const KEYS = keysEnv({ "key-ana": ["ana", "voter"], "key-bo": ["bo", "voter"], "key-cy": ["cy", "voter"] })
const TIMEOUT = 120_000

/** A service with the Slack app, and with a mail server that refuses these addresses where there is one. */
const makeStage = Effect.fnUntraced(function* (
  directory: string,
  refused: ReadonlyArray<string> | undefined,
  rules: StagedSeat["rules"] = { assign: ["person:ana"] }
) {
  const slack = yield* makeFakeSlack
  const mails = refused && (yield* smtpServer(refusing(...refused)))
  const smtp = mails === undefined ? {} : { LAUNCHER_SMTP_URL: mails.url, LAUNCHER_SMTP_FROM: FROM }
  const stage = yield* makeInboxStage(
    [{ session: "one", rules }],
    { ...KEYS, ...withBot, ...smtp },
    { directory, slack: slack.addresses }
  )
  const { sql } = stage
  const undelivered = sql<{ readonly reason: string }>`
    SELECT detail ->> 'reason' AS reason FROM people.audit WHERE action = 'item.undelivered'`
  /** All events of the question so far are handled, and what they report is noted. */
  const handled = Effect.fnUntraced(function* (item: string) {
    yield* sql`INSERT INTO people.notice_events (item, event) VALUES (${item}::uuid, 'test')`
    yield* until(sql`SELECT FROM people.notice_events WHERE expanded_at IS NULL`, (rows) => rows.length === 0)
    // The loop has begun its next round after the last one, which reported.
    yield* sql`INSERT INTO people.notice_events (item, event) VALUES (${item}::uuid, 'test')`
    yield* until(sql`SELECT FROM people.notice_events WHERE expanded_at IS NULL`, (rows) => rows.length === 0)
  })
  return { ...stage, slack, mails, undelivered, handled }
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("a question with two ways to a person", (it) => {
  it.effect(
    "that Slack alone delivered is delivered",
    () =>
      Effect.gen(function* () {
        const directory = "people: { ana: { email: ana@example.org, slack: U0ANA } }"
        const stage = yield* makeStage(directory, ["ana@example.org"])
        const { handled, slack, sql, undelivered, url } = stage
        yield* stage.propose("one")
        const item = yield* stage.openItem("one")
        yield* slack.callsOf("/api/chat.postMessage", 1)
        yield* until(sql`SELECT FROM people.notices WHERE state = 'failed'`, (rows) => rows.length === 1)
        yield* until(sql`SELECT FROM people.slack_messages WHERE ts IS NOT NULL`, (rows) => rows.length === 1)
        yield* handled(item)
        assert.deepStrictEqual([...(yield* undelivered)], [])
        const { body } = yield* ask(url, "GET", `/inbox/${item}`, { "x-api-key": "key-ana" })
        const states = body.notices.map((one: Record<string, string>) => `${one["channel"]} ${one["state"]}`)
        assert.sameMembers(states, ["mail failed", "slack sent"])
        assert.isUndefined(unreachedPersons(body.notices), "the page names no person as not notified")
      }),
    TIMEOUT
  )

  it.effect(
    "that neither delivered is reported, with the reason of each",
    () =>
      Effect.gen(function* () {
        const directory = "people: { ana: { email: ana@example.org }, zoe: { slack: U0ZOE } }"
        const stage = yield* makeStage(directory, ["ana@example.org"])
        yield* stage.propose("one")
        const [entry] = yield* until(stage.undelivered, (found) => found.length > 0)
        assert.match(entry?.reason ?? "", /^ana: .*no mailbox/)
        yield* stage.handled(yield* stage.openItem("one"))
        assert.lengthOf(yield* stage.undelivered, 1, "once")
      }),
    TIMEOUT
  )

  it.effect(
    "is reported by a service with Slack alone too, when the directory has no member of it",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeStage("people: { ana: { email: ana@example.org } }", undefined)
        yield* stage.propose("one")
        const [entry] = yield* until(stage.undelivered, (found) => found.length > 0)
        assert.strictEqual(entry?.reason, "people.yaml has no slack of a person who may answer")
      }),
    TIMEOUT
  )

  it.effect(
    "comes to a delegate by mail and in Slack, and to no delegate without a right",
    () =>
      Effect.gen(function* () {
        const directory =
          "people: { ana: { email: ana@example.org }, bo: { email: bo@example.org, slack: U0BO }, " +
          "rita: { email: rita@example.org, slack: U0RITA } }"
        const stage = yield* makeStage(directory, [])
        const { mails, slack, sql, url } = stage
        for (const to of ["person:bo", "person:rita"]) {
          const body = { to, until: "2099-01-01T00:00:00Z", reason: "leave" }
          const refused = yield* ask(url, "POST", "/people/me/delegations", { "x-api-key": "key-ana" }, body)
          assert.strictEqual(refused.status, 400, "90 days at most")
          const until90 = new Date(Date.now() + 80 * 86_400_000).toISOString()
          const made = yield* ask(
            url,
            "POST",
            "/people/me/delegations",
            { "x-api-key": "key-ana" },
            { ...body, until: until90 }
          )
          assert.strictEqual(made.status, 201, made.text)
        }
        yield* stage.propose("one")
        yield* until(sql`SELECT FROM people.notices WHERE state = 'sent'`, (rows) => rows.length === 2)
        const [post] = yield* slack.callsOf("/api/chat.postMessage", 1)
        assert.strictEqual(post?.body.channel, "U0BO")
        yield* stage.handled(yield* stage.openItem("one"))
        assert.sameMembers([...new Set(mails?.received.map(({ to }) => to))], ["ana@example.org", "bo@example.org"])
        // Rita is the requester: her delegation gives her no right, and her message in Slack is never written.
        yield* until(sql`SELECT FROM people.slack_messages WHERE ts IS NULL`, (rows) => rows.length === 0)
        assert.lengthOf(yield* slack.callsOf("/api/chat.postMessage", 1), 1)
      }),
    TIMEOUT
  )
})
