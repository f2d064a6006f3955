import type * as Schema from "effect/Schema"
import { dataPart, textPart } from "../../a2a/A2aWire.ts"
import { uuidV5 } from "../../values/HashUuid.ts"
import type { AnswerAct } from "../AnswerAct.ts"
import type { SeatMode } from "../SeatRules.ts"
import { isBallot, type SeatView } from "../SeatView.ts"
import type { TurnPhase } from "./TurnStep.ts"

/** The schema of the data part of a turn. */
export const TURN_SCHEMA = "runplane-turn-v1"

/** Evaluations that an agent is sent, the last ones. */
const MAX_EVALUATIONS = 200

/** What an agent is sent in a turn. */
export interface TurnContent {
  readonly mode: SeatMode
  readonly proposal: Schema.JsonObject
  readonly evaluations: ReadonlyArray<Schema.JsonObject>
  readonly policyInWords: ReadonlyArray<string>
  readonly allowedActs: ReadonlyArray<AnswerAct>
  readonly proposalHash: string
  /** ISO-8601; undefined: as long as the session lives. */
  readonly deadline: string | undefined
}

/** The context of a participant in a session: agents keep the id that a client chooses. */
export const contextIdOf = (sessionId: string, participant: string): string => `${sessionId}:${participant}`

/** The id of a message of a turn, the same at every send. */
export const turnMessageId = (
  sha1: (bytes: Uint8Array) => Uint8Array,
  turn: { readonly sessionId: string; readonly participant: string; readonly turn: string; readonly phase: TurnPhase }
): string => uuidV5(sha1, JSON.stringify([turn.sessionId, turn.participant, turn.turn, turn.phase]))

/** What others have said of a subject, without their votes. */
export const evaluationsOf = (view: SeatView, proposalId: string): ReadonlyArray<Schema.JsonObject> =>
  view.messages
    .filter((one) => one.statement.proposalId === proposalId && !isBallot(one) && OPINIONS.has(one.statement.type))
    .slice(-MAX_EVALUATIONS)
    .map(({ statement: { by, confidence, reason, recommendation, severity, type } }) => ({
      by,
      type,
      ...(recommendation !== undefined && { recommendation }),
      ...(confidence !== undefined && { confidence }),
      ...(severity !== undefined && { severity }),
      ...(reason !== undefined && { reason })
    }))

const OPINIONS: ReadonlySet<string> = new Set(["Evaluation", "Objection", "HandoffContext"])

const OPENINGS: Readonly<Record<TurnPhase, string>> = {
  first: "You take part in a decision of several agents.",
  input: "This is all the input that there is: the data part is the same as before.",
  repair: "Your answer had no readable data part. The question is asked once more."
}

/** A message of a turn as A2A sends it: a text for people, and the same as data. */
export const turnMessage = (
  content: TurnContent,
  {
    contextId,
    messageId,
    phase,
    taskId,
    traceparent
  }: {
    readonly contextId: string
    readonly messageId: string
    readonly phase: TurnPhase
    /** The task that the message goes on with, or, in a repair, the one that it refers to. */
    readonly taskId: string | undefined
    readonly traceparent: string | undefined
  }
): Schema.JsonObject => {
  const { allowedActs, deadline, mode, policyInWords, proposal, proposalHash } = content
  const text = [
    OPENINGS[phase],
    `Mode: ${mode}. Proposal: ${JSON.stringify(proposal)}`,
    ...policyInWords,
    ...(deadline === undefined ? [] : [`Answer by ${deadline}.`]),
    `Answer with a data part {"act", "confidence", "reason", "proposalHash"}. The act is one of: ${allowedActs.join(", ")}.`,
    `The proposalHash is ${proposalHash}.`
  ].join("\n")
  const goesOn = phase === "input" && taskId !== undefined
  return {
    messageId,
    contextId,
    role: "ROLE_USER",
    ...(goesOn && { taskId }),
    ...(phase === "repair" && taskId !== undefined && { referenceTaskIds: [taskId] }),
    parts: [
      textPart(text),
      dataPart({
        schema: TURN_SCHEMA,
        mode,
        proposal,
        evaluations: content.evaluations,
        policyInWords,
        allowedActs,
        proposalHash,
        ...(deadline !== undefined && { deadline })
      })
    ],
    ...(traceparent !== undefined && { metadata: { traceparent } })
  }
}
