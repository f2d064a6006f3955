import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { approval, ask, keysEnv, makeInboxStage, type StagedSeat, type StageOptions, sessionOf } from "../InboxStage.ts"
import { FROM, smtpServer } from "../notices/NoticeStage.ts"
import { messagesOf, SEAT } from "../SeatStage.ts"

export const PUBLIC = "https://launch.example.org"

export const directory = `people:
  ana: { groups: [risk], email: ana@example.org }
  dora: { name: Dora Klein, link: personal, email: dora@example.org, code: dora@example.net }
  emil: { link: personal, email: emil@example.org, code: emil@example.net }
`

const KEYS = keysEnv({ "key-ana": ["ana", "voter"] })

const LINK = /https:\/\/launch\.example\.org\/inbox\/link#([\w-]{43})(?=\s)/

/** A launch service with a mail server, whose mails a test reads. */
export const makeLinkStage = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>> = {},
  options: StageOptions = {}
) {
  const mails = yield* smtpServer()
  const stage = yield* makeInboxStage(
    seats.map((seat) => ({
      ...seat,
      rules: { assign: ["person:dora"], reason: "optional", ...seat.rules }
    })),
    { ...KEYS, LAUNCHER_SMTP_URL: mails.url, LAUNCHER_SMTP_FROM: FROM, LAUNCHER_PUBLIC_URL: PUBLIC, ...env },
    { directory, ...options }
  )
  const { sql, url } = stage

  /** The mails to an address, once there are so many. */
  const mailsTo = (address: string, count = 1) =>
    until(
      Effect.sync(() => mails.received.filter(({ to }) => to === address)),
      (found) => found.length >= count
    )
  /** The link in the last of so many mails to a person. */
  const linkTo = (person: string, count = 1) =>
    Effect.map(mailsTo(`${person}@example.org`, count), (found) => {
      const token = LINK.exec(unfolded(found.at(-1)?.text ?? ""))?.[1]
      if (token === undefined) throw new Error(`no link in ${JSON.stringify(found.at(-1))}`)
      return token
    })
  const post = (way: "read" | "code" | "answer", body: object) => ask(url, "POST", `/inbox/link/${way}`, {}, body)
  /** Requests a code, and reads it from the mail. */
  const codeOf = Effect.fnUntraced(function* (token: string, person: string) {
    const before = mails.received.filter(({ to }) => to === `${person}@example.net`).length
    const sent = yield* post("code", { token })
    if (sent.status !== 200) return yield* Effect.die(new Error(`no code: ${sent.text}`))
    const found = yield* mailsTo(`${person}@example.net`, before + 1)
    return /^Code (\d{6})$/.exec(found.at(-1)?.subject ?? "")?.[1] ?? ""
  })
  const answerOf = Effect.fnUntraced(function* (token: string) {
    const { body } = yield* post("read", { token })
    return approval(body.item)
  })
  const acts = (session: string) =>
    Effect.map(Effect.provideContext(messagesOf(sessionOf(session)), stage.runtime), (all) =>
      all.filter(({ sender }) => sender === SEAT)
    )
  /** All that a request could change. */
  const state = Effect.forEach(
    ["links", "items", "answers", "audit"],
    (table) => sql`SELECT to_jsonb(t)::text AS text FROM ${sql.literal(`people.${table}`)} t ORDER BY 1`
  )
  return { ...stage, mails, mailsTo, linkTo, post, codeOf, answerOf, acts, state }
})

/** The text of a mail without soft line breaks. */
const unfolded = (text: string): string => text.replaceAll("=\r\n", "").replaceAll("=23", "#").replaceAll("=3D", "=")
