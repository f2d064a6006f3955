import {
  type AnswerAct,
  answersOf,
  type Basis,
  basisOf,
  type Consequence,
  consequencesOf,
  type Delegation,
  type ItemState,
  isBallot,
  isClosed,
  isLastWord,
  type Person,
  personIn,
  policyLines,
  type Right,
  refusedDelegations,
  rightOf,
  type SeatMode,
  type SeenMessage,
  standingOf,
  takesEvaluations,
  toOneLine
} from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { proofOf, type SignedIn } from "./Answers.ts"
import { type AddedAssignee, AssigneeRows } from "./AssigneeRows.ts"
import { DelegationRows } from "./escalate/DelegationRows.ts"
import { EscalationRows, type MadeStep } from "./escalate/EscalationRows.ts"
import { type InboxQuery, type InboxRow, InboxRows, type InboxScope } from "./InboxRows.ts"
import { type ItemRow, ItemRows } from "./ItemRows.ts"
import { NoticeRows, type ShownNotice } from "./notices/NoticeRows.ts"
import { type QuestionRow, QuestionRows } from "./questions/QuestionRows.ts"
import { SeatRows } from "./SeatRows.ts"
import { SeatRunner } from "./SeatRunner.ts"
import type { SeatSession } from "./SeatSession.ts"
import { Suspensions } from "./suspend/Suspensions.ts"

/** A message of another participant about the same subject, as a person is shown it. */
export interface ShownMessage {
  readonly ordinal: number
  readonly by: string
  readonly type: string
  readonly recommendation?: string
  readonly confidence?: number
  readonly severity?: string
  readonly vote?: string
  readonly reason?: string
}

/** One item as a person is shown it: everything that the answer rests on, and nothing that is withheld. */
export interface ShownItem {
  readonly row: InboxRow
  /** The payload in the names of the protocol; undefined when its bytes cannot be read. */
  readonly payload: Readonly<Record<string, unknown>> | undefined
  readonly right: Right
  /** Who may answer by the scenario, and who was added. */
  readonly assign: ReadonlyArray<string>
  readonly added: ReadonlyArray<AddedAssignee>
  readonly notices: ReadonlyArray<ShownNotice>
  /** Questions of people to the agents. */
  readonly questions: ReadonlyArray<QuestionRow>
  /** The steps of its escalation that were made. */
  readonly escalations: ReadonlyArray<MadeStep>
  /** Delegations of assigned persons that are in effect, with why one gives no right. */
  readonly delegations: ReadonlyArray<{ readonly delegation: Delegation; readonly right: Right }>
  /** The delegation by which this person reads and answers; undefined for one who is assigned itself. */
  readonly by: Delegation | undefined
  readonly reason: "required" | "optional"
  /** The answers that this person can give now; empty for an item that is not open. */
  readonly acts: ReadonlyArray<AnswerAct>
  /** Why an answer of the seat cannot be given now. */
  readonly closedActs: string | undefined
  /** What the person is shown now; undefined while the session is not read. */
  readonly basis: Basis | undefined
  /** Why the item takes no answer now. */
  readonly unavailable: string | undefined
  /** What the person has to know of the suspension of the session; undefined for an item that is closed. */
  readonly suspension: string | undefined
  readonly messages: ReadonlyArray<ShownMessage>
  /** What each act would lead to; undefined where that would show what is withheld, or no rules are known. */
  readonly consequences: ReadonlyArray<Consequence> | undefined
  readonly given: ItemRow["given"]
  /** Whether what the answer says is withheld: the person still has a question of this session to answer. */
  readonly isGivenWithheld: boolean
  readonly proof: "session" | "fresh" | "passkey"
  /** What the sign-in of the person proves now. */
  readonly givenProof: ReturnType<typeof proofOf>
  readonly policyVersion: string
  /** The rules of the session in words; empty where they are not known. */
  readonly policy: ReadonlyArray<string>
}

/** How an item is read. */
export interface Reading {
  readonly scope: InboxScope
  /** Whether the person reads it by itself: then the time is noted. */
  readonly isSeen: boolean
}

/** The items of people, as they read them. A read changes nothing but the time when an item was first seen. */
export class Inbox extends Context.Service<Inbox, Effect.Success<typeof make>>()("runplane/launcher/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([InboxRows.layer, NoticeRows.layer, QuestionRows.layer]))
}

const make = Effect.gen(function* () {
  const rows = yield* InboxRows
  const assignees = yield* AssigneeRows
  const questions = yield* QuestionRows
  const delegations = yield* DelegationRows
  const escalations = yield* EscalationRows
  const items = yield* ItemRows
  const seats = yield* SeatRows
  const runner = yield* SeatRunner
  const notices = yield* NoticeRows
  const suspensions = yield* Suspensions

  const readerOf = (person: Person) =>
    Effect.map(delegations.receivedBy(person.id), (received) => ({ person, delegations: received }))

  return {
    list: Effect.fn("Inbox.list")((person: Person, query: InboxQuery) =>
      Effect.flatMap(readerOf(person), (reader) => rows.list(reader, query))
    ),

    positionOf: rows.positionOf,

    /** An item; undefined for one that the person may not read. */
    show: Effect.fn("Inbox.show")(function* (
      person: SignedIn,
      id: string,
      { isSeen, scope }: Reading = { scope: "own", isSeen: true }
    ) {
      const reader = yield* readerOf(person)
      const row = yield* rows.find(reader, scope, id)
      const item = yield* items.byId(id)
      if (row === undefined || item === undefined) return undefined
      const seat = yield* seats.find(row.session_id, row.seat)
      if (seat === undefined) return undefined
      // Before the assignees: an item with a step has those that it added.
      const made = yield* escalations.of(id)
      const added = yield* assignees.of(id)
      const { assign, distinctFrom, proof = "session" } = seat.rules
      const answeredBy = yield* items.answeredBy(row.session_id, row.seat)
      const assigned = {
        assign: [...assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
        distinctFrom,
        requester: seat.requester,
        answeredBy
      }
      const moment = { scenarioRef: row.scenario_ref, unixMs: yield* items.now }
      const { by, right } = standingOf(person, assigned, reader.delegations, moment)
      const bearing = yield* delegations.bearingOn(assigned.assign, row.scenario_ref)
      const refused = new Map(
        refusedDelegations(assigned, bearing, moment).map((one) => [one.delegation.id, one.right])
      )
      if (isSeen && right !== "not assigned") yield* rows.noteSeen(id, person.id)
      const isAwaited = yield* rows.isAwaited(reader, { id, sessionId: row.session_id, seat: row.seat })
      const session = runner.sessionOf(row.session_id, row.seat)
      const isRead = session !== undefined && session.view.messages.length >= seat.lastOrdinal
      const bytes = Result.getOrThrow(Base64.decode(row.payload))
      const shown: ShownItem = {
        row,
        payload: decodePayload(row.payload_type, bytes),
        right,
        assign,
        added,
        notices: yield* notices.ofItem(id),
        questions: yield* questions.of(id),
        escalations: made,
        delegations: bearing.map((delegation) => ({
          delegation,
          right: refused.get(delegation.id) ?? rightOf(personIn(delegation.by, row.scenario_ref), assigned)
        })),
        by,
        reason: seat.rules.reason ?? "required",
        unavailable: seat.unavailable ?? (isRead ? undefined : "the session is being read again"),
        suspension: isClosed(item.state) ? undefined : suspensions.textOf(row.session_id),
        given: item.given,
        isGivenWithheld: isAwaited,
        proof,
        givenProof: proofOf(person, yield* items.now),
        policyVersion: row.hashed.policyVersion,
        policy: session?.facts.sessionRules === undefined ? [] : policyLines(session.facts.sessionRules),
        ...(session === undefined || !isRead ? UNREAD : shownOf(session, item, right, isAwaited))
      }
      return shown
    })
  }
})

const UNREAD = { acts: [], closedActs: undefined, basis: undefined, messages: [], consequences: undefined }

/** States in which the answer is given: nothing is withheld from then on. */
const ANSWERED: ReadonlySet<ItemState> = new Set(["answered", "sent", "accepted", "refused", "unknown"])

const shownOf = ({ facts, row, rules, view }: SeatSession, item: ItemRow, right: Right, isAwaited: boolean) => {
  const subject = view.messages[item.subject - 1]
  const proposalId = subject?.statement.proposalId ?? ""
  const reveal = isAwaited ? "after" : ANSWERED.has(item.state) ? "before" : rules.reveal
  const basis = basisOf(view, row.seat, reveal)
  const hidden = new Set(basis.withheld)
  const all = answersOf(view.mode, rules.acts)
  const isEarly = takesEvaluations(view)
  const possible = all.filter((act) => isLastWord(act) || isEarly)
  const isOpen = item.state === "open" && right === "answer"
  return {
    basis,
    acts: isOpen ? possible : [],
    closedActs:
      possible.length === all.length
        ? undefined
        : "after the first vote the session takes no evaluation and no objection",
    messages: view.messages
      .filter((one) => one.statement.proposalId === proposalId && one.ordinal !== item.subject)
      .filter((one) => !hidden.has(one.ordinal))
      .map(shownMessage),
    consequences:
      reveal === "after" || facts.sessionRules === undefined
        ? undefined
        : consequencesOf(facts.sessionRules, view, row.seat, proposalId, possible)
  }
}

const shownMessage = (message: SeenMessage): ShownMessage => {
  const { by, confidence, reason, recommendation, severity, type, vote } = message.statement
  return {
    ordinal: message.ordinal,
    by,
    type,
    ...(recommendation !== undefined && { recommendation }),
    ...(confidence !== undefined && { confidence }),
    ...(severity !== undefined && { severity }),
    ...(isBallot(message) && vote !== undefined && { vote }),
    ...(reason !== undefined && { reason })
  }
}

/** Characters of a title in a list. */
const MAX_TITLE = 200

/** What is proposed, requested or offered, by the mode of the session. */
const TITLE_KEYS: Readonly<Record<SeatMode, string>> = { decision: "option", quorum: "action", handoff: "scope" }

/** The title of an item: one line of what is proposed, requested or offered. */
export const itemTitle = (
  mode: SeatMode,
  payload: Readonly<Record<string, unknown>> | undefined
): string | undefined => {
  const text = payload?.[TITLE_KEYS[mode]]
  return typeof text === "string" && text !== "" ? toOneLine(text, MAX_TITLE) : undefined
}
