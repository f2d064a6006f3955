import { buffer } from "node:stream/consumers"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { Directory } from "../../../src/catalog/Directory.ts"
import type { PeopleDocument } from "../../../src/catalog/PackDocuments.ts"
import { type NewRecord, RunRecords } from "../../../src/control-plane/RunRecords.ts"
import { Links } from "../../../src/people/links/Links.ts"
import { Mailer, makeMailer, smtpOptions } from "../../../src/people/notices/Mailer.ts"
import { NoticeEvents } from "../../../src/people/notices/NoticeEvents.ts"
import { NoticeRows } from "../../../src/people/notices/NoticeRows.ts"
import { runNotices } from "../../../src/people/notices/Notices.ts"
import { addSeat, propose, start } from "../SeatStage.ts"

export const FROM = "runplane@example.org"
export const INBOX = "https://launch.example.org/inbox"
const ADDRESS = { url: INBOX, isPrivate: true }

/** A mail as the server received it. */
export interface Received {
  readonly to: string
  readonly id: string
  readonly subject: string
  readonly text: string
}

const header = (text: string, name: string): string =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, "im").exec(text)?.[1]?.replaceAll(/\r\n[ \t]/g, " ") ?? ""

/** A mail server that keeps what it receives, until the scope ends. Port 0 is a free one. */
export const smtpServer = Effect.fnUntraced(function* (options: SMTPServerOptions = {}, port = 0) {
  const received: Array<Received> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData: (stream, session, done) => {
      buffer(stream).then((bytes) => {
        const text = bytes.toString("utf8")
        for (const { address } of session.envelope.rcptTo) {
          received.push({ to: address, id: header(text, "message-id"), subject: header(text, "subject"), text })
        }
        done()
      }, done)
    },
    ...options
  })
  yield* Effect.acquireRelease(
    Effect.callback<void, Error>((resume) => {
      server.on("error", (error) => resume(Effect.fail(error)))
      server.listen(port, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
  const address = server.server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const stop = Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  return { received, stop, port: address.port, url: `smtp://127.0.0.1:${address.port}` }
})

/** A server that refuses these recipients for good. */
export const refusing = (...refused: ReadonlyArray<string>): SMTPServerOptions => ({
  onRcptTo: ({ address }, _session, done) =>
    done(refused.includes(address) ? Object.assign(new Error(`<${address}>: no mailbox`), { responseCode: 550 }) : null)
})

export const layerMailer = (url: string) => Layer.effect(Mailer, makeMailer(smtpOptions(url), FROM))

/** Ana and Bo have addresses. */
const PEOPLE: People = {
  ana: { groups: ["risk"], email: "ana@example.org" },
  bo: { groups: ["risk"], email: "bo@example.org" }
}

type People = PeopleDocument["people"]

export const layerDirectory = (people = PEOPLE) =>
  Layer.succeed(
    Directory,
    Directory.of({
      groupsOf: () => Effect.succeed(new Map()),
      peopleOf: () => Effect.succeed(people),
      emailOf: (person) => Effect.succeed(people[person]?.email)
    })
  )

/** The loop of the notices, beside the service of the seats. */
export const layerLoop = <E, R>(mailer: Layer.Layer<Mailer, E, R>, people?: People) =>
  Layer.effectDiscard(runNotices(ADDRESS, false)).pipe(
    Layer.provide(Layer.mergeAll(NoticeRows.layer, NoticeEvents.layer, Links.layer)),
    Layer.provide([mailer, layerDirectory(people)])
  )

/** A control plane that keeps every record. */
export const makePlane = () => {
  const posts: Array<NewRecord> = []
  const records = RunRecords.of({
    isConfigured: true,
    post: ({ content, idempotencyKey, kind, label, sessionId }) =>
      Effect.sync(() => {
        posts.push({ content, idempotencyKey, kind, label, sessionId })
        return { _tag: "kept" }
      }),
    message: () => Effect.succeed(undefined)
  })
  return { posts, records }
}

/** Opens a session with a question for ana and bo. */
export const askIn = Effect.fnUntraced(function* (sessionId: string, rules: Parameters<typeof addSeat>[1] = {}) {
  yield* addSeat(sessionId, rules)
  yield* start(sessionId)
  yield* propose(sessionId)
})

interface NoticeRow {
  readonly id: string
  readonly item: string | null
  readonly event: string
  readonly person: string
  readonly state: string
  readonly reason: string | null
  readonly tries: number
}

export const noticeRows = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<NoticeRow>`
    SELECT id, item::text AS item, event, person, state, reason, tries FROM people.notices ORDER BY created_at, id`
)

/** The notices as `person event state`. */
export const noticeStates = Effect.map(noticeRows, (rows) =>
  rows.map(({ event, person, state }) => `${person} ${event} ${state}`).sort()
)

export const auditActions = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{ readonly action: string; readonly detail: string }>`
    SELECT action, detail::text AS detail FROM people.audit ORDER BY id`
)

/** Makes all pending notices due. */
export const makeDue = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql`UPDATE people.notices SET due_at = now() WHERE state = 'pending'`
)
