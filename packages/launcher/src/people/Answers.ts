import {
  type AnswerContent,
  type AnswerVerdict,
  basisAt,
  isFreshSignIn,
  type Person,
  type Right,
  seatMode,
  seatRules,
  standingOf
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AnswerRows } from "./AnswerRows.ts"
import { AssigneeRows } from "./AssigneeRows.ts"
import { DelegationRows } from "./escalate/DelegationRows.ts"
import { type ItemRow, ItemRows } from "./ItemRows.ts"
import { type PasskeyAssertion, PasskeyProofs } from "./passkeys/PasskeyProofs.ts"
import type { PasskeyPage, PasskeyRefused } from "./passkeys/WebAuthn.ts"
import { SeatRows } from "./SeatRows.ts"
import { SeatRunner } from "./SeatRunner.ts"
import { SeatWork } from "./SeatWork.ts"
import { verdictOn } from "./turns/CheckedAnswer.ts"

/** A person as it has signed in. */
export interface SignedIn extends Person {
  /**
   * `none`: the service requires no sign-in. `link`: a personal link and its code. `slack`: Slack vouches for a member
   * that the directory names.
   */
  readonly proof: "none" | "link" | "slack" | "session"
  /** When the person of a cookie signed in at the issuer, Unix milliseconds; undefined where that is not known. */
  readonly signedInAtUnixMs?: number | undefined
  /** How the answer came in: `api`, `console`, `cli`, `slack`, `link`. */
  readonly channel: string
  /** Whether the credential of the person reads the runs of the control plane too; assumed where that is not known. */
  readonly readsRuns?: boolean
}

/** An answer as a person submits it: what it says, and what it rests on. */
export interface Submitted {
  readonly content: AnswerContent
  readonly proposalHash: string
  readonly basis: { readonly ordinal: number; readonly sha256: string }
  /** How a passkey has signed it, in which page. */
  readonly passkey?: { readonly assertion: PasskeyAssertion; readonly page: PasskeyPage } | undefined
}

/** Why an answer is not stored. */
export class AnswerRefused extends Data.TaggedError("AnswerRefused")<{
  readonly why:
    | { readonly _tag: "no-item" }
    | { readonly _tag: "forbidden"; readonly right: Exclude<Right, "answer"> }
    /** The seat requires a sign-in of the last minutes. */
    | { readonly _tag: "not-fresh" }
    /** The seat requires a passkey. */
    | { readonly _tag: "unsigned" }
    | { readonly _tag: "passkey"; readonly why: PasskeyRefused["why"] }
    /** The service does not have the session now: it is read again, or its history is gone. */
    | { readonly _tag: "unavailable"; readonly reason: string; readonly isFinal: boolean }
    | { readonly _tag: "unknown-basis" }
    /** The person has given as many answers in the last minute as one may. */
    | { readonly _tag: "too-many"; readonly perMinute: number }
    | Exclude<AnswerVerdict, { readonly _tag: "store" | "same" }>
}> {}

/** What the sign-in of a person proves now, by the clock of the database. */
export const proofOf = ({ proof, signedInAtUnixMs }: SignedIn, nowUnixMs: number): SignedIn["proof"] | "fresh" =>
  proof === "session" && isFreshSignIn(signedInAtUnixMs, nowUnixMs) ? "fresh" : proof

/** A refusal for the audit, without the reason that the person wrote. */
const refusalOf = (why: AnswerRefused["why"], { content }: Submitted) => {
  const said = { act: content.act, why: why._tag }
  switch (why._tag) {
    case "forbidden":
      return { ...said, right: why.right }
    case "invalid":
      return { ...said, field: why.field, message: why.message }
    case "gone":
      return { ...said, state: why.state }
    case "answered":
      return { ...said, by: why.by.person ?? "deadline" }
    case "passkey":
      return { ...said, passkey: why.why._tag, ...(why.why._tag === "refused" && { message: why.why.reason }) }
    default:
      return said
  }
}

/** More answers in a minute are no decisions of a person. */
export const ANSWERS_PER_MINUTE = 30

/** The answers of people: each is one transaction, and the first one of an item is the only one. */
export class Answers extends Context.Service<Answers, Effect.Success<typeof make>>()("runplane/launcher/Answers") {
  static readonly layer = Layer.effect(
    Answers,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(PasskeyProofs.layer))
}

const make = Effect.gen(function* () {
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const answers = yield* AnswerRows
  const assignees = yield* AssigneeRows
  const delegations = yield* DelegationRows
  const proofs = yield* PasskeyProofs
  const work = yield* SeatWork
  const runner = yield* SeatRunner

  const refuse = (why: AnswerRefused["why"]) => Effect.fail(new AnswerRefused({ why }))

  /** The record of the passkey that has signed an answer to an open item. */
  const signedBy = Effect.fnUntraced(function* (person: string, item: ItemRow, submitted: Submitted) {
    const { basis, content, passkey, proposalHash } = submitted
    if (passkey === undefined || item.openedAtUnixMs === undefined) return yield* refuse({ _tag: "unsigned" })
    const askedAt = new Date(item.openedAtUnixMs).toISOString()
    const answer = { ...content, item: item.id, proposalHash, basis, askedAt }
    return yield* Effect.catchTag(
      proofs.prove(person, passkey.page, answer, passkey.assertion),
      "PasskeyRefused",
      ({ why }) => refuse({ _tag: "passkey", why })
    )
  })

  /** The item of an answer under the lock of its seat. Its verdict is final: nothing changes before it is stored. */
  const decide = Effect.fnUntraced(function* (id: string, person: SignedIn, submitted: Submitted) {
    const at = yield* items.seatOf(id)
    if (at === undefined) return yield* refuse({ _tag: "no-item" })
    const row = yield* seats.lock(at.sessionId, at.seat)
    const item = yield* items.byId(id)
    if (row === undefined || item === undefined) return yield* refuse({ _tag: "no-item" })
    const mode = seatMode(row.modeName)
    if (mode === undefined) return yield* Effect.die(new Error(`no seat can be in ${row.modeName}`))
    const rules = seatRules(mode, row.rules)
    const { assign, distinctFrom, proof } = rules
    const added = yield* assignees.of(id)
    const answeredBy = yield* items.answeredBy(at.sessionId, at.seat)
    const { by: delegation, right } = standingOf(
      person,
      {
        assign: [...assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
        distinctFrom,
        requester: row.requester,
        answeredBy
      },
      yield* delegations.lockedFor(person.id),
      { scenarioRef: row.scenarioRef, unixMs: yield* items.now }
    )
    if (right !== "answer") return yield* refuse({ _tag: "forbidden", right })
    const now = yield* items.now
    const given = proofOf(person, now)
    // A repeated answer is answered with the first, however old the sign-in is by then.
    if (proof === "fresh" && given !== "fresh" && item.given === undefined) {
      return yield* refuse({ _tag: "not-fresh" })
    }
    const session = runner.sessionOf(at.sessionId, at.seat)
    const isRead = session !== undefined && session.view.messages.length >= row.lastOrdinal
    if (row.unavailable !== undefined && item.given === undefined) {
      return yield* refuse({ _tag: "unavailable", reason: row.unavailable, isFinal: true })
    }
    // A closed item has its answer without the session.
    if (!isRead && (item.state === "open" || item.state === "waiting")) {
      return yield* refuse({ _tag: "unavailable", reason: "the session is being read again", isFinal: false })
    }
    const basis = session && basisAt(session.view, at.seat, rules.reveal, submitted.basis)
    if (item.state === "open" && basis === undefined) return yield* refuse({ _tag: "unknown-basis" })
    const verdict = verdictOn(
      item,
      { seat: at.seat, mode, rules, session, basisOrdinal: submitted.basis.ordinal },
      { person: person.id, content: submitted.content, proposalHash: submitted.proposalHash },
      now
    )
    if (verdict._tag === "same") return at
    if (verdict._tag !== "store") return yield* refuse(verdict)
    if (session === undefined || basis === undefined) return yield* refuse({ _tag: "unknown-basis" })
    if ((yield* answers.inLastMinute(person.id)) >= ANSWERS_PER_MINUTE) {
      return yield* refuse({ _tag: "too-many", perMinute: ANSWERS_PER_MINUTE })
    }
    const { channel, readsRuns: couldHaveSeen } = person
    const passkey = proof === "passkey" ? yield* signedBy(person.id, item, submitted) : undefined
    const by = {
      origin: "person",
      person: person.id,
      proof: passkey === undefined ? given : "passkey",
      passkey,
      channel,
      couldHaveSeen,
      delegation: delegation && { id: delegation.id, by: delegation.by.id }
    } as const
    yield* work.store(session, { content: submitted.content, basis, item, by })
    return at
  })

  return {
    /** Stores the answer of a person, and has it sent. The same answer again is answered with the first. */
    submit: Effect.fn("Answers.submit")(function* (id: string, person: SignedIn, submitted: Submitted) {
      const at = yield* work.inTransaction(decide(id, person, submitted)).pipe(
        Effect.tapErrorTag("AnswerRefused", ({ why }) =>
          // After the transaction, which leaves nothing of a refused answer.
          why._tag === "no-item"
            ? Effect.void
            : Effect.asVoid(items.audit(person.id, "answer.refused", id, refusalOf(why, submitted)))
        )
      )
      yield* runner.wake(at.sessionId, at.seat)
      return yield* Effect.flatMap(items.byId(id), (item) =>
        item === undefined ? refuse({ _tag: "no-item" }) : Effect.succeed(item)
      )
    })
  }
})
