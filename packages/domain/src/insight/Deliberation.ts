import type { CanonicalEvent, EventData, EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { OTLP_MODE_NAME } from "../events/MessageHeader.ts"
import { A2A_USAGE, type AnswerFact } from "../events/PeopleFacts.ts"
import type { ShadowFact } from "../events/ShadowFact.ts"
import type { ReceiptReport } from "../receipts/ReceiptReport.ts"
import { boundDenials } from "../run/BoundDenials.ts"
import type { DenialReason } from "../run/Denials.ts"
import { denialText } from "../run/DenialText.ts"
import { boundName, boundProse } from "../values/Bounds.ts"
import { objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type Act, evaluateActs, type LogPosition, readAct, type StandardMode, standardMode } from "./Act.ts"
import { SUBJECT_TYPES, subjectText } from "./RunCase.ts"
import { noteName, type Spending, spend } from "./Spending.ts"

/** The end of the deliberation, as the runtime accepted it; the last one where it accepted several. */
export interface Commitment extends LogPosition {
  readonly by: string
  readonly action: string
  /** Null when neither the sender nor the action determines it. */
  readonly positive: boolean | null
  /**
   * The outcome under which the runtime evaluated it, which is never null: a flag that a protobuf message lacks is
   * false.
   */
  readonly evaluatedPositive: boolean
  readonly reason: string | undefined
  /** 0 to 1, where its sender states one. */
  readonly confidence?: number | undefined
  readonly proposalId: string | undefined
  /** Hash of the message's bytes; undefined for runs without one. */
  readonly commitmentHash?: string | undefined
}

/** A message that the policy refused. */
export interface Denial extends LogPosition {
  readonly by: string
  readonly text: string
  /** Its reasons with their codes; empty where the runtime sends words only. */
  readonly denials: ReadonlyArray<DenialReason>
}

/** The acts of a run towards its decision, each with its position in the log. */
export interface Deliberation {
  readonly runId: string
  readonly modeName: string
  /** Undefined for a mode without rules, and while no event names the mode. */
  readonly mode: StandardMode | undefined
  /** Empty while it is not known. */
  readonly initiator: string
  /** What the session is for, as its opener states it. */
  readonly intent: string | undefined
  /** The context that a participant sends in its signal `session.context`: bytes as base64. */
  readonly context: string | undefined
  /** What it is about, equal for two runs of the same case (`subjectText`); undefined before its first proposal. */
  readonly subject: string | undefined
  /** The declared participants; without a declaration, all senders. */
  readonly participants: ReadonlyArray<string>
  /** Whether events declare the participants; else others may take part. */
  readonly areDeclared: boolean
  /** All acts in order; `skipped` is the reason why an act does not count. */
  readonly acts: ReadonlyArray<Act>
  readonly commitment: Commitment | undefined
  /** Commitments on record, `commitment` included. */
  readonly commitments: number
  /** The runtime's receipt of the decision, checked; undefined without one. */
  readonly receipt: ReceiptReport | undefined
  readonly denials: ReadonlyArray<Denial>
  /** Up to the commitment, in order of first spending. */
  readonly spending: ReadonlyArray<Spending>
  /**
   * The models that each participant called up to the commitment, the first ones, in order of first use; those of a
   * shadow under its name.
   */
  readonly models: ReadonlyMap<string, ReadonlyArray<string>>
  /** Hashes of the prompts of each participant up to the commitment, where its spans have them. */
  readonly prompts: ReadonlyMap<string, ReadonlyArray<string>>
  /** The agents that were tried beside a participant, by their names. They decide nothing. */
  readonly shadows: ReadonlyMap<string, ShadowFact>
  /** What the shadows spent, by their names; no part of `spending`. */
  readonly shadowSpending: ReadonlyMap<string, Spending>
  readonly policyVersion: string | undefined
  readonly descriptor: EventData<"policy.resolved">["descriptor"]
  /** Version of the run's runtime, as recorded. */
  readonly runtimeVersion: string | undefined
  /** OPEN, SUSPENDED, RESOLVED, EXPIRED or CANCELLED. */
  readonly state: string
  /** Whether the run has ended, with a decision or without. */
  readonly hasEnded: boolean
  /** Unix milliseconds, as last announced. */
  readonly expiresAtUnixMs: number | undefined
  /** Why the run failed before its session was on record; undefined for every other run. */
  readonly unopened: string | undefined
  /** The last event that was read. */
  readonly at: LogPosition | undefined
  readonly notes: ReadonlyArray<string>
}

/** Most acts of one run; later ones are skipped, with a note. */
export const MAX_ACTS = 50_000
/** Longest context that is kept, characters of base64. */
const MAX_CONTEXT = 64 * 1024
/** Participants of an ingested run that count, the first ones. */
const MAX_SEEN = 1_000
/** Refusals of one run that are kept, the first ones. */
const MAX_DENIALS = 1_000

/** Answers of people, and shadows, in one run that are kept, the first ones. */
const MAX_ANSWERS = 10_000
const MAX_SHADOWS = 100

/** Reads a run's events one by one, so that they need not be in memory together. */
export interface DeliberationReader {
  readonly take: (event: CanonicalEvent) => void
  /** The record of the events so far. */
  readonly read: () => Deliberation
}

/** Reads the input of forecast, why and what-if from a run's events, in order. Total over any events. */
export const deliberationReader = (): DeliberationReader => {
  const draft = emptyDraft()
  return {
    take: (event) => {
      draft.runId = event.runId
      draft.at = positionOf(event)
      if (event.type !== "unknown") take(draft, event)
    },
    read: () => finished(draft)
  }
}

/** The record of all events at once. */
export const decisionRecord = (events: Iterable<CanonicalEvent>): Deliberation => {
  const reader = deliberationReader()
  for (const event of events) reader.take(event)
  return reader.read()
}

const emptyDraft = () => ({
  runId: "",
  modeName: "",
  initiator: "",
  intent: undefined as string | undefined,
  context: undefined as string | undefined,
  /** Payload of the first proposal or request for approval. */
  subject: undefined as JsonObject | undefined,
  declared: undefined as ReadonlyArray<string> | undefined,
  acts: [] as Array<Act>,
  /** The id of the message of each act, at the same index. */
  messageIds: [] as Array<string>,
  answers: new Map<string, AnswerFact>(),
  leftOut: 0,
  commitment: undefined as Commitment | undefined,
  commitments: 0,
  receipt: undefined as ReceiptReport | undefined,
  denials: [] as Array<Denial>,
  spending: new Map<string, Spending>(),
  /** Up to the commitment. */
  spent: new Map<string, Spending>(),
  models: new Map<string, ReadonlyArray<string>>(),
  prompts: new Map<string, ReadonlyArray<string>>(),
  shadows: new Map<string, ShadowFact>(),
  shadowSpending: new Map<string, Spending>(),
  policyVersion: undefined as string | undefined,
  descriptor: undefined as Deliberation["descriptor"],
  runtimeVersion: undefined as string | undefined,
  state: "OPEN",
  hasEnded: false,
  expiresAtUnixMs: undefined as number | undefined,
  failure: undefined as string | undefined,
  at: undefined as LogPosition | undefined,
  hasGap: false
})
type Draft = ReturnType<typeof emptyDraft>

const positionOf = ({ index, seq, ts }: CanonicalEvent): LogPosition => ({ seq, index, ts })

const take = (draft: Draft, event: KnownEvent): void => {
  switch (event.type) {
    case "run.created":
      draft.modeName ||= event.data.modeName ?? ""
      draft.runtimeVersion = event.data.runtimeVersion
      return
    case "session.bound":
      if (event.data.participants.length > 0) draft.declared = event.data.participants
      draft.initiator = event.data.initiator ?? draft.initiator
      takeSession(draft, event.data)
      return
    case "session.state.changed":
      draft.expiresAtUnixMs = event.data.expiresAtUnixMs ?? draft.expiresAtUnixMs
      takeSession(draft, event.data)
      return
    case "run.cancelled":
      draft.state = "CANCELLED"
      draft.hasEnded = true
      return
    case "run.completed":
      draft.hasEnded = true
      return
    case "run.failed":
      draft.hasEnded = true
      draft.failure = boundOr(event.data.error ?? event.data.errorCode) ?? "the run failed"
      return
    case "message.received": {
      const { sender, sessionStart } = event.data
      if (sessionStart === undefined) return
      if (draft.declared === undefined || sessionStart.participants.length > 0)
        draft.declared = sessionStart.participants
      draft.initiator = sender
      draft.intent ??= boundOr(sessionStart.intent)
      return
    }
    case "signal.emitted":
      if (event.data.signalType === "session.context") draft.context ??= contextIn(event.data.payload)
      return
    case "participant.seen":
      // An ingested run has no session that declares its participants.
      if (draft.modeName === OTLP_MODE_NAME) declare(draft, event.data.participantId)
      return
    case "proposal.created":
    case "proposal.updated":
      // Nor does it state an initiator, which is then the participant of the first proposal.
      if (draft.modeName === OTLP_MODE_NAME) draft.initiator ||= event.data.sender
      if (SUBJECT_TYPES.has(event.data.messageType)) draft.subject ??= payloadOf(event.recorded.data)
      if (draft.acts.length < MAX_ACTS) {
        draft.acts.push(readAct(event))
        draft.messageIds.push(event.data.messageId)
      } else draft.leftOut += 1
      return
    case "decision.finalized":
      draft.commitment = commitmentOf(event)
      draft.commitments += 1
      draft.spent = new Map(draft.spending)
      return
    case "artifact.created":
      draft.receipt = event.data.receipt ?? draft.receipt
      takeAnswer(draft.answers, event.data.answer)
      takeShadow(draft.shadows, event.data.shadow)
      return
    case "policy.resolved":
      draft.policyVersion = event.data.policyVersion ?? draft.policyVersion
      draft.descriptor = event.data.descriptor ?? draft.descriptor
      return
    case "policy.denied":
      if (draft.denials.length < MAX_DENIALS) draft.denials.push(denialOf(event))
      return
    case "llm.call.completed":
      if (event.data.shadow !== undefined) {
        spend(draft.shadowSpending, event.data)
        noteName(draft.models, event.data.sender, event.data.model)
        return
      }
      spend(draft.spending, event.data)
      if (draft.commitment !== undefined && !isOfTurn(event.data)) return
      // Those before the commitment are copied with it.
      if (draft.commitment !== undefined) spend(draft.spent, event.data)
      noteName(draft.models, event.data.sender, event.data.model)
      noteName(draft.prompts, event.data.sender, event.data.promptHash)
      return
    case "session.stream.opened":
      draft.hasGap ||= event.data.status === "gap"
      return
  }
}

/** Whether a call is of a turn: it came before the commitment, although its record can arrive after it. */
const isOfTurn = ({ usageSource }: EventData<"llm.call.completed">): boolean => usageSource === A2A_USAGE

/** The first answer of a message counts: the log takes one for each item. */
const takeAnswer = (answers: Map<string, AnswerFact>, answer: AnswerFact | undefined): void => {
  if (answer === undefined || answers.has(answer.messageId) || answers.size >= MAX_ANSWERS) return
  answers.set(answer.messageId, answer)
}

/** The first acts of a shadow count: the launch service adds them once. */
const takeShadow = (shadows: Map<string, ShadowFact>, fact: ShadowFact | undefined): void => {
  if (fact === undefined || shadows.has(fact.shadow) || shadows.size >= MAX_SHADOWS) return
  shadows.set(fact.shadow, fact)
}

/** The acts, each with the answer that it is the message of: by the id of the message, and by its sender. */
const withAnswers = ({ acts, answers, messageIds }: Draft): ReadonlyArray<Act> =>
  answers.size === 0
    ? acts
    : acts.map((act, at) => {
        const answer = answers.get(messageIds[at] ?? "")
        return answer?.seat === act.by ? { ...act, answer } : act
      })

const payloadOf = (data: JsonObject): JsonObject => objectAt(data, "decodedPayload", "payload") ?? {}

const contextIn = (payload: EventData<"signal.emitted">["payload"]): string | undefined => {
  const bytes = textAt(payload, "data")
  return bytes === undefined || bytes.length > MAX_CONTEXT ? undefined : bytes
}

const declare = (draft: Draft, participantId: string): void => {
  const declared = draft.declared ?? []
  if (declared.length >= MAX_SEEN || declared.includes(participantId)) return
  draft.declared = [...declared, participantId]
}

const takeSession = (draft: Draft, data: EventData<"session.state.changed" | "session.bound">): void => {
  draft.modeName = data.modeName ?? draft.modeName
  draft.policyVersion = data.policyVersion ?? draft.policyVersion
  draft.state = data.state ?? draft.state
}

const commitmentOf = (event: EventOf<"decision.finalized">): Commitment => {
  const { action = "resolved", commitmentHash, confidence, outcomePositive, payloadTypeName, proposalId } = event.data
  const { reason, reasons, sender } = event.data
  return {
    ...positionOf(event),
    by: sender,
    action: boundName(action),
    positive: outcomePositive,
    evaluatedPositive: outcomePositive ?? payloadTypeName === undefined,
    reason: boundOr(reason ?? (reasons.length > 0 ? reasons.join("; ") : undefined)),
    confidence: shareOf(confidence),
    proposalId: proposalId === undefined ? undefined : boundName(proposalId),
    commitmentHash: commitmentHash === undefined ? undefined : boundName(commitmentHash)
  }
}

const shareOf = (share: number | undefined): number | undefined =>
  share !== undefined && share >= 0 && share <= 1 ? share : undefined

const denialOf = (event: EventOf<"policy.denied">): Denial => {
  const { errorMessage, reasons, sender } = event.data
  const { denials } = boundDenials({ denials: event.data.denials })
  const said = denials.length > 0 ? denials.map(denialText) : reasons
  const text = said.length > 0 ? said.join("; ") : (errorMessage ?? "refused by the policy")
  return { ...positionOf(event), by: sender, text: boundProse(text), denials }
}

const boundOr = (text: string | undefined): string | undefined => (text === undefined ? undefined : boundProse(text))

const finished = (draft: Draft): Deliberation => {
  const { at, commitment, declared, denials, descriptor, expiresAtUnixMs, initiator } = draft
  const acts = withAnswers(draft)
  const mode = standardMode(draft.modeName)
  const participants = [...new Set(declared ?? acts.map(({ by }) => by).filter((by) => by !== ""))]
  const evaluated = mode === undefined ? acts : evaluateActs({ mode, initiator, participants }, acts)
  return {
    runId: draft.runId,
    modeName: draft.modeName,
    mode,
    initiator,
    intent: draft.intent,
    context: draft.context,
    subject: draft.subject === undefined ? undefined : subjectText(draft.intent, draft.subject),
    participants,
    areDeclared: declared !== undefined,
    acts: evaluated,
    commitment,
    commitments: draft.commitments,
    receipt: draft.receipt,
    denials,
    spending: [...(commitment === undefined ? draft.spending : draft.spent).values()],
    models: draft.models,
    prompts: draft.prompts,
    shadows: draft.shadows,
    shadowSpending: draft.shadowSpending,
    policyVersion: draft.policyVersion,
    descriptor,
    runtimeVersion: draft.runtimeVersion,
    state: draft.state,
    hasEnded: draft.hasEnded,
    expiresAtUnixMs,
    unopened: unopened(draft),
    at,
    notes: notesOf(draft, evaluated)
  }
}

/** A run without a declaration, a state of its session and an act has not seen its session. */
const unopened = ({ acts, declared, failure }: Draft): string | undefined =>
  declared === undefined && acts.length === 0 ? failure : undefined

const notesOf = (draft: Draft, evaluated: ReadonlyArray<Act>): ReadonlyArray<string> => {
  const strangers = new Set(evaluated.flatMap(({ by, skipped }) => (skipped === "stranger" ? [by] : [])))
  const lost = evaluated.filter(({ skipped }) => skipped === "nothing known by this id").length
  const foreign = evaluated.filter(({ skipped }) => skipped === "of another mode").length
  return [
    draft.modeName === "" && "no event names the mode",
    draft.modeName !== "" && standardMode(draft.modeName) === undefined && `no rules are known for ${draft.modeName}`,
    unopened(draft) ??
      (draft.declared === undefined && "no event declares the participants; every sender counts as one"),
    strangers.size > 0 && `not counted, as they do not take part: ${[...strangers].join(", ")}`,
    lost > 0 && `${lost} acts are about something that is not on record`,
    foreign > 0 && `${foreign} acts belong to another mode`,
    draft.leftOut > 0 && `${draft.leftOut} acts after the first ${MAX_ACTS} are skipped`,
    draft.hasGap && "the recorded history has a gap",
    draft.commitments > 1 && `${draft.commitments} commitments are on record; the last one counts`
  ].filter((note) => note !== false)
}
