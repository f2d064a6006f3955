import { lineText } from "../../values/ChatMessage.ts"
import { type Assigned, type Moment, standingOf } from "../Assignment.ts"
import type { Delegation } from "../escalate/PersonDelegation.ts"
import { CODE_LIFE_MS } from "../links/PersonalLink.ts"
import type { Person } from "../Person.ts"
import { questionFacts, questionTitle, type ShownQuestion } from "./ItemMessage.ts"

/** A person of a pack's directory. */
export interface NotifiedPerson extends Pick<Person, "id" | "groups"> {
  readonly isReachable: boolean
  /** Whether the person answers by a personal link, as one without a sign-in. */
  readonly hasLink?: boolean | undefined
}

/** What decides whom an event of a question concerns. */
export interface Concern {
  readonly assigned: Assigned
  /** Who was notified of the question before. */
  readonly asked: ReadonlySet<string>
  readonly answeredBy: string | undefined
  /** The delegations in effect that bear on the question. */
  readonly delegations: ReadonlyArray<Delegation>
  readonly moment: Moment
}

/** An event of a question. */
export interface NoticeEvent {
  readonly item: string
  /** `opened`, `escalated`, `returned`, `reminded` and `closed` concern persons; every other name concerns none. */
  readonly event: string
}

/** The only channel that notifies persons one by one; chats are webhooks, which have no persons. */
export const MAIL = "mail"

/** One notice of a person, under an id that the same event gives again. */
export interface Notice extends NoticeEvent {
  readonly id: string
  readonly person: string
  readonly channel: typeof MAIL
  /** Why it can never be sent; undefined for one that can. */
  readonly failure: string | undefined
  /** Whether it has a personal link, for which no digest can stand. */
  readonly isPersonal: boolean
}

/** The events that request an answer of a person. */
export const ASKING_EVENTS: ReadonlyArray<string> = ["opened", "escalated", "returned"]

/** Why a person who is assigned by name is not notified. */
export const NO_ADDRESS = "people.yaml has no email of this person"

const PERSON = "person:"

/** Whom the event concerns, of those that the directory, the assignments and delegations name. */
const concerned = (
  { event }: NoticeEvent,
  persons: ReadonlyArray<NotifiedPerson>,
  { answeredBy, asked, assigned, delegations, moment }: Concern
): ReadonlyArray<NotifiedPerson> => {
  if (event === "closed") return persons.filter(({ id }) => asked.has(id) && id !== answeredBy)
  const mayAnswer = persons.filter((person) => standingOf(person, assigned, delegations, moment).right === "answer")
  if (event === "reminded") return mayAnswer
  return ASKING_EVENTS.includes(event) ? mayAnswer.filter(({ id }) => !asked.has(id)) : []
}

/**
 * The notices of an event. An escalation and a return concern only persons who were not notified of the question
 * before, the end of the question only these. The person who answered needs no notice of that.
 */
export const noticesOf = (
  event: NoticeEvent,
  directory: ReadonlyArray<NotifiedPerson>,
  concern: Concern
): ReadonlyArray<Notice> => {
  const known = new Set(directory.map(({ id }) => id))
  const named = new Set([
    ...concern.assigned.assign.filter((name) => name.startsWith(PERSON)).map((name) => name.slice(PERSON.length)),
    ...concern.delegations.map(({ to }) => to)
  ])
  const strangers = [...named]
    .filter((id) => !known.has(id))
    .map((id): NotifiedPerson => ({ id, groups: [], isReachable: false }))
  return concerned(event, [...directory, ...strangers], concern)
    .filter(({ id, isReachable }) => isReachable || named.has(id))
    .map(({ hasLink = false, id, isReachable }) => ({
      ...event,
      id: `${event.item}:${event.event}:${id}:${MAIL}`,
      person: id,
      channel: MAIL,
      failure: isReachable ? undefined : NO_ADDRESS,
      isPersonal: hasLink
    }))
}

/**
 * Which persons no notice of a question reached, and why; undefined where each was reached, or none had to be. A later
 * notice that was sent counts.
 */
export const unreachedPersons = (
  notices: ReadonlyArray<{
    readonly person: string
    readonly state: string
    readonly reason?: string | undefined
  }>
): string | undefined => {
  const reached = new Set(notices.filter(({ state }) => state === "sent").map(({ person }) => person))
  const failed = new Map(
    notices
      .filter(({ reason, state }) => state === "failed" || (state === "pending" && reason !== undefined))
      .filter(({ person }) => !reached.has(person))
      .map(({ person, reason }) => [person, reason ?? "not sent"])
  )
  const [first] = failed
  if (first === undefined) return undefined
  return `no notice reached ${[...failed].map(([person, reason]) => `${person}: ${reason}`).join("; ")}`
}

/** The shortest time to a deadline that gets a reminder: a shorter one ends before a person can act on it. */
const LEAST_MS = 10 * 60_000

/** When the persons of a question are reminded: once, after half of the time; undefined: never. Unix milliseconds. */
export const remindAtUnixMs = (openedAtUnixMs: number, deadlineUnixMs: number | undefined): number | undefined =>
  deadlineUnixMs === undefined || deadlineUnixMs - openedAtUnixMs < LEAST_MS
    ? undefined
    : openedAtUnixMs + (deadlineUnixMs - openedAtUnixMs) / 2

/** Open questions of a person from which on one digest an hour stands for single notices. */
export const DIGEST_ABOVE = 1_000

const DIGEST_EVERY_MS = 3_600_000

/** The digest of a person for the current hour: its id, and when it is sent. */
export const digestOf = (person: string, nowUnixMs: number) => {
  const hour = Math.floor(nowUnixMs / DIGEST_EVERY_MS)
  return { id: `digest:${hour}:${person}:${MAIL}`, person, dueAtUnixMs: (hour + 1) * DIGEST_EVERY_MS }
}

/** What a digest says. */
export interface Digest {
  readonly open: number
  /** Until when the first of them is to be answered; undefined without a deadline. ISO 8601. */
  readonly firstDeadline: string | undefined
}

/** Characters of a name in the mail with a code. */
const MAX_SEAT = 200
const MINUTE_MS = 60_000

/** A plain text for one person. */
export interface MailText {
  readonly subject: string
  readonly text: string
}

const SIGN_IN = "The link gives no right: you sign in there."

/** Where a mail leads. */
export interface MailLink {
  readonly address: string
  /** Of a personal link: until when it takes an answer, and where its codes are sent. */
  readonly personal?: { readonly until: string; readonly codeTo: string } | undefined
}

/** The mail about a question. `proposal` is the text of the proposal, where the scenario includes it. */
export const questionMail = (
  question: ShownQuestion,
  link: MailLink | undefined,
  proposal: string | undefined
): MailText => {
  const title = questionTitle(question)
  const facts = questionFacts(question)
  const scenario = facts.find(({ name }) => name === "Scenario")?.text
  return {
    subject: scenario === undefined ? title : `${title}, ${scenario}`,
    text: lines([
      title,
      facts.map(({ name, text }) => `${name}: ${text}`).join("\n"),
      ...(proposal === undefined ? [] : [`The proposal in full:\n\n${proposal}`]),
      ...linkLines(link)
    ])
  }
}

/** The mail with the code of a personal link. It names the question, and has no link. */
export const codeMail = (
  code: string,
  { hash, scenario, seat }: Pick<ShownQuestion, "hash" | "scenario" | "seat">
) => ({
  subject: `Code ${code}`,
  text: lines([
    `${code} is your code for the question for ${lineText(seat, MAX_SEAT)}` +
      `${scenario === undefined ? "" : `, ${lineText(scenario, MAX_SEAT)}`}, proposal ${hash}.`,
    `It counts for ${CODE_LIFE_MS / MINUTE_MS} minutes, in the page that requested it. Give it to no other person.`,
    "If you have not requested it, another person has your link: notify the operator of the service."
  ])
})

/** The mail that stands for single notices. */
export const digestMail = ({ firstDeadline, open }: Digest, link: string | undefined): MailText => {
  const title = `${open.toLocaleString("en-US")} open questions for you`
  return {
    subject: title,
    text: lines([
      title,
      `There is one mail an hour while more than ${DIGEST_ABOVE.toLocaleString("en-US")} are open.`,
      ...(firstDeadline === undefined ? [] : [`The first deadline: ${firstDeadline}`]),
      ...linkLines(link === undefined ? undefined : { address: link })
    ])
  }
}

const linkLines = (link: MailLink | undefined): ReadonlyArray<string> =>
  link === undefined ? [] : [link.address, link.personal === undefined ? SIGN_IN : personalText(link.personal)]

const personalText = ({ codeTo, until }: NonNullable<MailLink["personal"]>): string =>
  `The link is for you alone, do not forward it: who has it can read the question. ` +
  `To answer, you need a code, which its page sends to ${codeTo}. It takes an answer until ${until}.`

const lines = (parts: ReadonlyArray<string>): string => `${parts.join("\n\n")}\n`
