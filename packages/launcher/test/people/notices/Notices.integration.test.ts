import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { unreachedPersons } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Answers } from "../../../src/people/Answers.ts"
import { Delegations } from "../../../src/people/escalate/Delegations.ts"
import { Inbox } from "../../../src/people/Inbox.ts"
import { Mailer, makeMailer, messageIdOf, smtpOptions } from "../../../src/people/notices/Mailer.ts"
import { DigestAbove } from "../../../src/people/notices/NoticeEvents.ts"
import { NoticeRows } from "../../../src/people/notices/NoticeRows.ts"
import { ana, itemWhen, makeWorld, shown } from "../SeatStage.ts"
import {
  askIn,
  auditActions,
  FROM,
  INBOX,
  layerLoop,
  layerMailer,
  makeDue,
  makePlane,
  noticeRows,
  noticeStates,
  refusing,
  smtpServer
} from "./NoticeStage.ts"

const sessionOf = (at: number) => `00000000-0000-4000-8000-00000000000${at}`
const SESSION = sessionOf(1)

describe("notices by mail", () => {
  it.live("given a question, sends each person one mail with the link, and no text of the proposal", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { received, url } = yield* smtpServer()
      yield* Effect.gen(function* () {
        yield* askIn(SESSION, { deadline: "4h" })
        const item = yield* itemWhen(SESSION, "open")
        yield* until(noticeStates, (states) => states.join() === "ana opened sent,bo opened sent")
        assert.sameMembers([...new Set(received.map(({ to }) => to))], ["ana@example.org", "bo@example.org"])
        for (const { id, subject, text, to } of received) {
          const person = to.slice(0, to.indexOf("@"))
          assert.strictEqual(id, messageIdOf(`${item.id}:opened:${person}:mail`, "example.org"))
          assert.strictEqual(subject, "Question for officer, test/people@1.0.0")
          assert.include(text, `From: ${FROM}\r\nTo: ${to}\r\n`)
          assert.match(text, /^Auto-Submitted: auto-generated\r$/m)
          assert.include(text, `${INBOX}/${item.id}`)
          assert.include(text, item.proposalHash.slice(0, 8))
          assert.notInclude(text, item.proposalHash)
          assert.notInclude(text, "option p1")
        }
      }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live("given a scenario that says so, includes the proposal", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { received, url } = yield* smtpServer()
      yield* Effect.gen(function* () {
        yield* askIn(SESSION, { notify: { content: "full" } })
        yield* until(noticeStates, (states) => states.join() === "ana opened sent,bo opened sent")
        assert.isTrue(received.every(({ text }) => text.includes("option p1")))
      }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live("given an answer, notifies the others of the end, and not the person who answered", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { received, url } = yield* smtpServer()
      yield* Effect.gen(function* () {
        yield* askIn(SESSION)
        const item = yield* itemWhen(SESSION, "open")
        yield* until(noticeStates, (states) => states.join() === "ana opened sent,bo opened sent")
        const content = { act: "reject", reason: "no" } as const
        const basis = yield* shown(SESSION)
        yield* (yield* Answers).submit(item.id, ana, { content, proposalHash: item.proposalHash, basis })
        yield* itemWhen(SESSION, "accepted")
        yield* until(noticeStates, (states) => states.includes("bo closed sent"))
        assert.notInclude((yield* noticeStates).join(), "ana closed")
        const end = received.find(({ subject }) => subject.startsWith("Closed"))
        assert.strictEqual(end?.to, "bo@example.org")
        assert.include(end?.text ?? "", "Answered by: ana")
      }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live(
    "given half of the time without an answer, reminds once, and reports it",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* makeWorld
        const { received, url } = yield* smtpServer()
        const { posts, records } = makePlane()
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* askIn(SESSION, { deadline: "1h" })
          const item = yield* itemWhen(SESSION, "open")
          const left = sql<{ readonly share: number | null }>`
          SELECT (extract(epoch FROM remind_at - opened_at) / extract(epoch FROM deadline_at - opened_at))::float8
            AS share FROM people.items`
          const [row] = yield* until(left, ([found]) => typeof found?.share === "number")
          assert.approximately(row?.share ?? 0, 0.5, 0.01)
          // The clock of the database cannot be moved: the time of the reminder is.
          yield* sql`UPDATE people.items SET remind_at = now()`
          yield* sql`INSERT INTO people.notice_events (item, event) VALUES (${item.id}::uuid, 'test')`
          yield* until(noticeStates, (states) => states.includes("ana reminded sent"))
          yield* until(noticeStates, (states) => states.includes("bo reminded sent"))
          const reminder = received.find(({ subject }) => subject.startsWith("Reminder"))
          assert.strictEqual(reminder?.subject, "Reminder: question for officer, test/people@1.0.0")
          const keys = Effect.sync(() => posts.map(({ idempotencyKey }) => idempotencyKey))
          yield* until(keys, (all) => all.includes(`people.item:${item.id}:reminded`))
          const [again] = yield* sql`SELECT id FROM people.items WHERE reminded_at IS NULL`
          assert.isUndefined(again)
        }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer(records)))))
      }),
    60_000
  )

  it.live(
    "given a server that is away, says so on the item, and sends when it is back",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* makeWorld
        const { port, url } = yield* Effect.scoped(smtpServer())
        yield* Effect.gen(function* () {
          yield* askIn(SESSION, { assign: ["person:ana"] })
          const item = yield* itemWhen(SESSION, "open")
          yield* until(noticeRows, ([row]) => row?.reason === "connection refused")
          const before = yield* (yield* Inbox).show(ana, item.id)
          const notices = (before?.notices ?? []).map(({ reason, ...one }) => ({ ...one, reason: reason ?? undefined }))
          assert.strictEqual(unreachedPersons(notices), "no notice reached ana: connection refused")
          const { received } = yield* smtpServer({}, port)
          yield* until(noticeStates, (states) => states.join() === "ana opened sent")
          assert.deepStrictEqual([...new Set(received.map(({ to }) => to))], ["ana@example.org"])
          const after = yield* (yield* Inbox).show(ana, item.id)
          assert.deepInclude(after?.notices[0], { state: "sent", reason: null })
        }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
      }),
    60_000
  )

  it.live("given a refused recipient, gives up for it alone, with an audit entry that has no address", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { received, url } = yield* smtpServer(refusing("ana@example.org"))
      yield* Effect.gen(function* () {
        yield* askIn(SESSION)
        yield* until(noticeStates, (states) => states.join() === "ana opened failed,bo opened sent")
        const failed = (yield* noticeRows).find(({ person }) => person === "ana")
        assert.match(failed?.reason ?? "", /550 .*the address.*no mailbox/)
        assert.isTrue(received.every(({ to }) => to === "bo@example.org"))
        const entries = yield* auditActions
        const entry = entries.find(({ action }) => action === "notice.failed")
        assert.include(entry?.detail ?? "", '"person": "ana"')
        assert.notInclude(JSON.stringify(entries), "@example.org")
        assert.isUndefined(entries.find(({ action }) => action === "item.undelivered"))
      }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live("given no person who could be notified, reports the question as undelivered", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { url } = yield* smtpServer(refusing("ana@example.org", "bo@example.org"))
      const { posts, records } = makePlane()
      yield* Effect.gen(function* () {
        yield* askIn(SESSION)
        const item = yield* itemWhen(SESSION, "open")
        const reported = Effect.sync(() =>
          posts.find(({ idempotencyKey }) => idempotencyKey === `people.item:${item.id}:undelivered`)
        )
        const record = yield* until(reported, (found) => found !== undefined)
        assert.deepInclude(record?.content, { event: "undelivered", state: "open", unanswered: false })
        const entry = (yield* auditActions).find(({ action }) => action === "item.undelivered")
        assert.match(entry?.detail ?? "", /ana: .*no mailbox; bo: .*no mailbox/)
      }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer(records)))))
    })
  )

  it.live("given a directory without an address, reports the question as undelivered at once", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { url } = yield* smtpServer()
      const people = { ana: { groups: ["risk"] } }
      yield* Effect.gen(function* () {
        yield* askIn(SESSION, { assign: ["group:risk"] })
        const entries = yield* until(auditActions, (all) => all.some(({ action }) => action === "item.undelivered"))
        const entry = entries.find(({ action }) => action === "item.undelivered")
        assert.include(entry?.detail ?? "", "people.yaml has no email of a person who may answer")
      }).pipe(Effect.provide(layerLoop(layerMailer(url), people).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live("given a delegation of an open question, notifies the delegate when it begins, once", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { received, url } = yield* smtpServer()
      const person = { groups: [], email: "zoe@example.org" }
      const people = { ana: { groups: [] }, zoe: person, later: { ...person, email: "later@example.org" } }
      yield* Effect.gen(function* () {
        const notices = yield* NoticeRows
        yield* askIn(SESSION, { assign: ["person:ana"] })
        yield* until(noticeStates, (states) => states.join() === "ana opened failed")
        yield* until(Effect.sync(notices.troubles), (troubles) => troubles.length > 0)
        assert.deepStrictEqual(notices.troubles(), ["open questions without a notice: 1"])

        const { add, now, revoke } = yield* Delegations
        const from = (yield* now) + 3_000
        const delegation = { untilUnixMs: from + 3_600_000, scenarios: undefined, reason: "" }
        const ana = { id: "ana", groups: [] }
        const revoked = yield* add(ana, { ...delegation, to: "bo", fromUnixMs: from })
        yield* revoke(ana, revoked.id)
        yield* add(ana, { ...delegation, to: "later", fromUnixMs: from })
        const elsewhere = ["test/other"]
        yield* add(ana, { ...delegation, to: "stranger", fromUnixMs: undefined, scenarios: elsewhere })
        yield* add(ana, { ...delegation, to: "zoe", fromUnixMs: undefined })
        yield* until(noticeStates, (states) => states.includes("zoe delegated sent"))
        assert.isFalse((yield* noticeStates).some((state) => state.startsWith("later")))
        yield* until(noticeStates, (states) => states.includes("later delegated sent"))
        assert.deepStrictEqual(yield* noticeStates, ["ana opened failed", "later delegated sent", "zoe delegated sent"])
        assert.deepStrictEqual(
          received.map(({ subject, to }) => [to, subject]),
          [
            ["zoe@example.org", "Delegated to you: question for officer, test/people@1.0.0"],
            ["later@example.org", "Delegated to you: question for officer, test/people@1.0.0"]
          ]
        )
        yield* until(Effect.sync(notices.troubles), (troubles) => troubles.length === 0)
      }).pipe(Effect.provide(layerLoop(layerMailer(url), people).pipe(Layer.provideMerge(layer()))))
    })
  )

  it.live(
    "given a kill between the mail and its row, sends again under the same Message-ID",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* makeWorld
        const { received, url } = yield* smtpServer()
        const isSent = yield* Deferred.make<void>()
        const killed = Layer.effect(
          Mailer,
          Effect.map(makeMailer(smtpOptions(url), FROM), ({ send }) => ({
            send: (mail: Parameters<typeof send>[0]) =>
              Effect.andThen(send(mail), Effect.andThen(Deferred.succeed(isSent, undefined), Effect.never))
          }))
        )
        yield* Effect.gen(function* () {
          yield* askIn(SESSION, { assign: ["person:ana"] })
          yield* Deferred.await(isSent)
          assert.deepStrictEqual(yield* noticeStates, ["ana opened pending"])
        }).pipe(Effect.provide(layerLoop(killed).pipe(Layer.provideMerge(layer()))))
        yield* Effect.gen(function* () {
          yield* makeDue
          yield* until(noticeStates, (states) => states.join() === "ana opened sent")
        }).pipe(Effect.provide(layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))))
        assert.isAtLeast(received.length, 2)
        assert.strictEqual(new Set(received.map(({ id }) => id)).size, 1)
      }),
    60_000
  )

  it.live(
    "given too many open questions of a person, has one digest in place of single mails",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* makeWorld
        const { received, url } = yield* smtpServer()
        const services = layerLoop(layerMailer(url)).pipe(Layer.provideMerge(layer()))
        yield* Effect.gen(function* () {
          for (const at of [1, 2, 3, 4]) {
            yield* askIn(sessionOf(at), { assign: ["person:ana"] })
            yield* itemWhen(sessionOf(at), "open")
          }
          const states = yield* until(noticeStates, (all) => all.length === 5)
          assert.deepStrictEqual(
            states.filter((state) => !state.endsWith("sent") && !state.endsWith("opened pending")),
            ["ana digest pending", "ana opened digested", "ana opened digested"]
          )
          yield* makeDue
          yield* until(noticeStates, (all) => all.includes("ana digest sent"))
          const digest = received.find(({ subject }) => subject.includes("open questions"))
          assert.strictEqual(digest?.subject, "4 open questions for you")
          assert.include(digest?.text ?? "", INBOX)
        }).pipe(Effect.provide(services.pipe(Layer.provide(Layer.succeed(DigestAbove, 2)))))
      }),
    60_000
  )
})

describe("the mail server", () => {
  const mail = { id: "i1:opened:ana:mail", to: "ana@example.org", subject: "Question", text: "text\n" }
  /** The options of a server beyond the loopback, for one of the test. */
  const remote = (port: number) => ({ ...smtpOptions("smtp://mail.example.org"), host: "127.0.0.1", port })

  it.live("beyond the loopback, gets no mail without STARTTLS", () =>
    Effect.gen(function* () {
      const { port, received } = yield* smtpServer()
      const { send } = yield* makeMailer(remote(port), FROM)
      const { isFinal, reason } = yield* Effect.flip(send(mail))
      assert.isFalse(isFinal)
      assert.match(reason, /STARTTLS|TLS/)
      assert.deepStrictEqual(received, [])
    })
  )

  it.live("beyond the loopback, gets no mail with a certificate that no authority knows", () =>
    Effect.gen(function* () {
      const { port, received } = yield* smtpServer({ disabledCommands: [] })
      const { send } = yield* makeMailer(remote(port), FROM)
      assert.match((yield* Effect.flip(send(mail))).reason, /certificate/)
      assert.deepStrictEqual(received, [])
    })
  )

  it.live("gets user and password, and a wrong one ends no notice", () =>
    Effect.gen(function* () {
      const { port, received } = yield* smtpServer({
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: ({ password, username }, _session, done) =>
          username === "run plane" && password === "p@ss"
            ? done(null, { user: username })
            : done(Object.assign(new Error("no such user"), { responseCode: 535 }))
      })
      const right = yield* makeMailer(smtpOptions(`smtp://run%20plane:p%40ss@127.0.0.1:${port}`), FROM)
      yield* right.send(mail)
      assert.deepStrictEqual([...new Set(received.map(({ to }) => to))], ["ana@example.org"])
      const wrong = yield* makeMailer(smtpOptions(`smtp://run%20plane:wrong@127.0.0.1:${port}`), FROM)
      const { isFinal, reason } = yield* Effect.flip(wrong.send(mail))
      assert.isFalse(isFinal)
      assert.notInclude(reason, "wrong")
    })
  )

  it.live("given a subject with line breaks, gets no other header", () =>
    Effect.gen(function* () {
      const { received, url } = yield* smtpServer()
      const { send } = yield* makeMailer(smtpOptions(url), FROM)
      yield* send({ ...mail, subject: "a\r\nBcc: eve@example.org\r\n\r\nbody" })
      assert.isTrue(received.every(({ text }) => !/^Bcc:/im.test(text)))
      assert.deepStrictEqual([...new Set(received.map(({ to }) => to))], ["ana@example.org"])
    })
  )

  it("has the ports of submission, and TLS everywhere but on the loopback", () => {
    assert.deepInclude(smtpOptions("smtps://m.example.org"), { port: 465, secure: true, requireTLS: false })
    assert.deepInclude(smtpOptions("smtp://m.example.org"), { port: 587, secure: false, requireTLS: true })
    assert.deepInclude(smtpOptions("smtp://[::1]:25"), { host: "::1", port: 25, requireTLS: false })
    assert.notProperty(smtpOptions("smtp://m.example.org"), "auth")
  })
})
