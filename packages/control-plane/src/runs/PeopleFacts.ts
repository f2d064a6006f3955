import {
  a2aTurnContent,
  badRequest,
  messageNotRecorded,
  type NewArtifact,
  peopleAnswerContent,
  peopleItemContent,
  peopleQuestionContent,
  shadowActsContent,
  violationText
} from "@runplane/api"
import {
  A2A_TURN,
  answerFactOf,
  itemFactOf,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  type RunId,
  SHADOW_ACTS,
  shadowFactOf,
  turnFactOf
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { AcceptedMessages } from "../event-log/runs/AcceptedMessages.ts"
import { Redactor } from "../platform/deployment/Redactor.ts"

const decodeItem = Schema.decodeUnknownEffect(peopleItemContent)
const decodeAnswer = Schema.decodeUnknownEffect(peopleAnswerContent)
const decodeTurn = Schema.decodeUnknownEffect(a2aTurnContent)
const decodeQuestion = Schema.decodeUnknownEffect(peopleQuestionContent)
const decodeShadow = Schema.decodeUnknownEffect(shadowActsContent)

/**
 * What the event of an artifact of the launch service says (docs/reference/people.md#record). An answer and an act are
 * taken only with their message on record: of the seat, with exactly these bytes.
 */
export const makePeopleFacts = Effect.gen(function* () {
  const messages = yield* AcceptedMessages
  const redactor = yield* Redactor

  /** Refuses a message that is not on record: of this participant, with exactly these bytes. */
  const requireMessage = Effect.fnUntraced(function* (
    runId: RunId,
    participant: "seat" | "participant",
    {
      by,
      messageId,
      payloadSha256
    }: { readonly by: string; readonly messageId: string; readonly payloadSha256: string | undefined }
  ) {
    const found = yield* messages.find(runId, messageId)
    if (found === undefined) return yield* messageNotRecorded(runId, messageId)
    if (found.sender !== redactor.text(by)) {
      return yield* badRequest(`inline.${participant}: message ${messageId} is of ${found.sender}`)
    }
    // Bytes that are redacted or erased cannot be compared: the id, which no other participant knows, has to do.
    if (found.payloadSha256 !== undefined && found.payloadSha256 !== payloadSha256) {
      return yield* badRequest(`inline.payloadSha256: message ${messageId} has other bytes`)
    }
  })

  const answerOf = Effect.fnUntraced(function* (runId: RunId, inline: unknown) {
    const answer = yield* Effect.mapError(decodeAnswer(inline), refusedContent)
    yield* requireMessage(runId, "seat", { ...answer, by: answer.seat })
    return answerFactOf(answer)
  })

  const turnOf = Effect.fnUntraced(function* (runId: RunId, inline: unknown) {
    const turn = yield* Effect.mapError(decodeTurn(inline), refusedContent)
    const { messageId, participant, payloadSha256 } = turn
    if (messageId !== undefined) {
      yield* requireMessage(runId, "participant", { by: participant, messageId, payloadSha256 })
    }
    return turn
  })

  return Effect.fnUntraced(function* (runId: RunId, { inline = {}, kind }: NewArtifact) {
    switch (kind) {
      case PEOPLE_ITEM: {
        const item = itemFactOf(yield* Effect.mapError(decodeItem(inline), refusedContent))
        return { item: redactedTexts(redactor, item) }
      }
      case PEOPLE_ANSWER: {
        const answer = yield* answerOf(runId, inline)
        return { answer: redactedTexts(redactor, answer) }
      }
      case A2A_TURN: {
        const turn = yield* turnOf(runId, inline)
        const { usage = [] } = turn
        return {
          turn: redactedTexts(redactor, turnFactOf(turn)),
          /** The record by which its model calls are made. */
          called: {
            ...turn,
            participant: redactor.text(turn.participant),
            usage: usage.map((used) => redactedTexts(redactor, used))
          }
        }
      }
      case PEOPLE_QUESTION:
        // Its text is in the content alone, which an erasure removes.
        yield* Effect.mapError(decodeQuestion(inline), refusedContent)
        return {}
      case SHADOW_ACTS: {
        const shadow = shadowFactOf(yield* Effect.mapError(decodeShadow(inline), refusedContent))
        return { shadow: redactedTexts(redactor, shadow) }
      }
      default:
        return {}
    }
  })
})

/** The texts of a fact as the log has them elsewhere. */
const redactedTexts = <A extends object>(redactor: Redactor["Service"], fact: A): A => {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fact)) shown[name] = redacted(redactor, value)
  return { ...fact, ...shown }
}

const redacted = (redactor: Redactor["Service"], value: unknown): unknown => {
  if (typeof value === "string") return redactor.text(value)
  if (Predicate.isObject(value) && !Array.isArray(value)) return redactedTexts(redactor, value)
  return Array.isArray(value) ? value.map((one) => redacted(redactor, one)) : value
}

const refusedContent = ({ issue }: Schema.SchemaError) => {
  const text = violationText(issue) ?? "must be an object"
  return badRequest((typeof text === "string" ? [text] : text).map((one) => `inline: ${one}`).join("; "))
}
