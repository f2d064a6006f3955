import {
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
  answerFactOf,
  itemFactOf,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  type RunId,
  SHADOW_ACTS,
  shadowFactOf
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { AcceptedMessages } from "../event-log/runs/AcceptedMessages.ts"
import { Redactor } from "../platform/deployment/Redactor.ts"

const decodeItem = Schema.decodeUnknownEffect(peopleItemContent)
const decodeAnswer = Schema.decodeUnknownEffect(peopleAnswerContent)
const decodeQuestion = Schema.decodeUnknownEffect(peopleQuestionContent)
const decodeShadow = Schema.decodeUnknownEffect(shadowActsContent)

/**
 * What the event of an artifact about people says (docs/reference/people.md#record). An answer is taken only with its
 * message on record: of the seat, with exactly these bytes.
 */
export const makePeopleFacts = Effect.gen(function* () {
  const messages = yield* AcceptedMessages
  const redactor = yield* Redactor

  const answerOf = Effect.fnUntraced(function* (runId: RunId, inline: unknown) {
    const answer = yield* Effect.mapError(decodeAnswer(inline), refusedContent)
    const { messageId, payloadSha256, seat } = answer
    const found = yield* messages.find(runId, messageId)
    if (found === undefined) return yield* messageNotRecorded(runId, messageId)
    if (found.sender !== redactor.text(seat)) {
      return yield* badRequest(`inline.seat: message ${messageId} is of ${found.sender}`)
    }
    // Bytes that are redacted or erased cannot be compared: the id, which no other participant knows, has to do.
    if (found.payloadSha256 !== undefined && found.payloadSha256 !== payloadSha256) {
      return yield* badRequest(`inline.payloadSha256: message ${messageId} has other bytes`)
    }
    return answerFactOf(answer)
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
