import {
  backoffMs,
  digestMail,
  type MailLink,
  type MailText,
  maskedAddress,
  minuteText,
  noticesOf,
  questionMail,
  SHOWN_HASH_SIGNS,
  type ShownQuestion
} from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import { forever, isLoopback, LaunchSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Directory } from "../../catalog/Directory.ts"
import { invalidConfig } from "../../common/LaunchErrors.ts"
import { LauncherSettings } from "../../LauncherSettings.ts"
import { Links } from "../links/Links.ts"
import { People } from "../People.ts"
import { Mailer, SEND_TIMEOUT_MS } from "./Mailer.ts"
import { NoticeEvents, type RaisedEvent } from "./NoticeEvents.ts"
import { type DueNotice, type NoticedQuestion, NoticeRows } from "./NoticeRows.ts"

/** Pauses between the tries of one notice. Milliseconds. */
const BACKOFF = { firstMs: 1_000, longestMs: 600_000 }
/** Tries of one notice: they take two and a half hours. */
const MAX_TRIES = 24
/** A process that was killed in a try leaves the notice to the next one after this time. Milliseconds. */
const LEASE_MS = SEND_TIMEOUT_MS + 15_000
/** Notices of one round, and tries at the same time. */
const ROUND = 100
const CONCURRENCY = 4
/** Characters of a proposal in a mail. */
const MAX_PROPOSAL = 20_000

const CLOSED = "the question was closed before"
const NO_ADDRESS_NOW = "people.yaml has no email of this person any more"
const NEEDS_SIGN_IN = "the question requires a sign-in, and people.yaml gives this person a personal link alone"
const NO_PRIVATE_ADDRESS = "personal links need LAUNCHER_PUBLIC_URL to be an https address, or one of the loopback"

/** What becomes of a notice that is due. */
type Composed =
  | { readonly _tag: "mail"; readonly mail: MailText; readonly to: string }
  | { readonly _tag: "obsolete"; readonly reason: string }
  | { readonly _tag: "failed"; readonly reason: string }

/** Where the inbox is, and whether links can be sent that take an answer without a sign-in. */
export interface InboxAddress {
  readonly url: string
  /** Over plain http the network could read what a link sends; requests on the loopback leave no machine. */
  readonly isPrivate: boolean
}

/**
 * One round: reminds, decides whom events concern, and sends what is due. A notice that was sent before a kill is sent
 * again under the same Message-ID; a personal link in it is then another one, and both take the answer. Without the
 * address of the inbox mails have no link.
 */
export const makeRound = Effect.fnUntraced(function* (inbox: InboxAddress | undefined, hasSlack: boolean) {
  const rows = yield* NoticeRows
  const events = yield* NoticeEvents
  const directory = yield* Directory
  const mailer = yield* Mailer
  const links = yield* Links

  const reportUnreached = (item: string) =>
    events.reportUnreached(item, { mail: mailer !== undefined, slack: hasSlack })

  const expand = Effect.fnUntraced(function* (raised: RaisedEvent) {
    const people = mailer === undefined ? {} : yield* directory.peopleOf(raised.scenario_ref)
    const known = Object.entries(people).map(([id, { email, groups = [], link }]) => ({
      ...{ id, groups },
      isReachable: email !== undefined,
      hasLink: link !== undefined
    }))
    yield* events.expand(raised, (concern) =>
      mailer === undefined ? [] : noticesOf({ item: raised.item, event: raised.event }, known, concern)
    )
    if (raised.event !== "closed") yield* reportUnreached(raised.item)
  })

  const compose = Effect.fnUntraced(function* ({ event, item, person }: DueNotice) {
    if (item === null) {
      const digest = yield* rows.digest(person)
      if (digest.open === 0) return obsolete(CLOSED)
      const { firstDeadline: first, open } = digest
      const mail = digestMail({ open, firstDeadline: first && minuteText(first) }, inbox?.url)
      return composed(mail, yield* directory.emailOf(person))
    }
    const question = yield* rows.question(item)
    if (question === undefined || question.is_erased) return obsolete("the texts of the question are erased")
    if (event !== "closed" && question.state !== "open") return obsolete(CLOSED)
    const people = yield* directory.peopleOf(question.scenario_ref)
    const to = Object.hasOwn(people, person) ? people[person] : undefined
    const mail = (link: MailLink | undefined) =>
      questionMail(shownOf(question, event), link, event === "closed" ? undefined : proposalOf(question))
    if (to?.link === undefined) return composed(mail(inbox && { address: `${inbox.url}/${item}` }), to?.email)
    // A person without a sign-in: the end of a question has no link, and a question has one of the person alone.
    if (event === "closed") return composed(mail(undefined), to.email)
    if (question.proof !== "session") return { _tag: "failed", reason: NEEDS_SIGN_IN } as const
    if (inbox?.isPrivate !== true) return { _tag: "failed", reason: NO_PRIVATE_ADDRESS } as const
    const made = yield* links.make(item, person)
    if (made === undefined) return obsolete(CLOSED)
    const until = minuteText(new Date(made.untilUnixMs).toISOString())
    const personal = { until, codeTo: maskedAddress(to.code ?? "") }
    return composed(mail({ address: `${inbox.url}/link#${made.token}`, personal }), to.email)
  })

  const fail = Effect.fnUntraced(function* (notice: DueNotice, reason: string) {
    const { event, id, item, person } = notice
    yield* Effect.logWarning(`notice ${id} is given up: ${event} never reached ${person}: ${reason}`)
    yield* rows.fail(notice, reason)
    if (item !== null) yield* reportUnreached(item)
  })

  const attempt = Effect.fnUntraced(function* (send: NonNullable<Mailer["Service"]>["send"], notice: DueNotice) {
    if (!(yield* rows.claim(notice, LEASE_MS))) return
    const made = yield* compose(notice)
    switch (made._tag) {
      case "obsolete":
        return yield* rows.drop(notice, made.reason)
      case "failed":
        return yield* fail(notice, made.reason)
      case "mail": {
        const sending = yield* Effect.result(send({ id: notice.id, to: made.to, ...made.mail }))
        if (Result.isSuccess(sending)) return yield* rows.sent(notice)
        const { isFinal, reason } = sending.failure
        if (isFinal || notice.tries + 1 >= MAX_TRIES) return yield* fail(notice, reason)
        return yield* rows.postpone(notice, backoffMs(BACKOFF, notice.tries), reason)
      }
    }
  })

  return Effect.gen(function* () {
    yield* events.remind
    const raised = yield* events.raised
    yield* Effect.forEach(raised, expand, { discard: true })
    if (mailer !== undefined) {
      const due = yield* rows.due(ROUND)
      yield* Effect.forEach(due, (notice) => attempt(mailer.send, notice), { concurrency: CONCURRENCY, discard: true })
    }
    yield* rows.readTroubles
    const nextMs = raised.length === 0 ? yield* rows.nextDueMs : 0
    return { pauseMs: Math.min(POLL_MS, Math.max(LEAST_PAUSE_MS, nextMs ?? POLL_MS)) }
  })
})

const obsolete = (reason: string): Composed => ({ _tag: "obsolete", reason })

const composed = (mail: MailText, to: string | undefined): Composed =>
  to === undefined ? { _tag: "failed", reason: NO_ADDRESS_NOW } : { _tag: "mail", mail, to }

const shownOf = (question: NoticedQuestion, event: string): ShownQuestion => {
  const { deadline_at, origin, person, proposal_hash, scenario_ref, seat, state } = question
  return {
    event,
    seat,
    scenario: scenario_ref,
    state,
    hash: proposal_hash.slice(0, SHOWN_HASH_SIGNS),
    unanswered: origin === "deadline" || (origin === null && (state === "expired" || state === "withdrawn")),
    ...(person !== null && { person }),
    ...(deadline_at !== null && { deadline: deadline_at })
  }
}

/** The proposal as text, where the scenario includes it; undefined where it does not, and for unreadable bytes. */
const proposalOf = ({ content, payload, payload_type }: NoticedQuestion): string | undefined => {
  if (content !== "full") return undefined
  const bytes = Base64.decode(payload)
  const decoded = Result.isSuccess(bytes) ? decodePayload(payload_type, bytes.success) : undefined
  if (decoded === undefined) return undefined
  const text = JSON.stringify(decoded, undefined, 2)
  return text.length <= MAX_PROPOSAL ? text : `${text.slice(0, MAX_PROPOSAL).toWellFormed()}\n(cut)`
}

/** The longest pause: a wake of a process that ended is lost with it. Milliseconds. */
const POLL_MS = 30_000
/** Between two rounds without a wake. Milliseconds. */
const LEAST_PAUSE_MS = 200
/** A round waits for the tries of a mail server that is away. Milliseconds. */
const LIMIT_MS = 600_000

const inboxAddress = (publicUrl: string): InboxAddress => {
  const { hostname, protocol } = new URL(publicUrl)
  return {
    url: `${publicUrl.replace(/\/+$/, "")}/inbox`,
    isPrivate: protocol === "https:" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"))
  }
}

/** The loop of the rounds, in the scope of the caller. */
export const runNotices = Effect.fnUntraced(function* (inbox: InboxAddress | undefined, hasSlack: boolean) {
  const { woken } = yield* NoticeEvents
  const round = yield* makeRound(inbox, hasSlack)
  yield* Effect.forkScoped(forever("people-notices", round, { wake: woken, limitMs: LIMIT_MS }))
})

/** Notifies the persons of questions; nothing in a service without seats. */
export const layerNotices = Layer.effectDiscard(
  Effect.gen(function* () {
    const people = yield* People
    if (people === undefined) return
    const { url } = yield* Effect.mapError(readSettings({ url: LaunchSettings.LAUNCHER_PUBLIC_URL }), ({ message }) =>
      invalidConfig(message)
    )
    const { slack } = yield* LauncherSettings
    yield* runNotices(url === "" ? undefined : inboxAddress(url), slack?.botToken !== undefined).pipe(
      Effect.provideService(Links, people.links),
      Effect.provideService(NoticeRows, people.notices),
      Effect.provideService(NoticeEvents, people.noticeEvents)
    )
  })
)
