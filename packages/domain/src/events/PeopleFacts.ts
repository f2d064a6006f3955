import * as Schema from "effect/Schema"
import { numberAt, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** The kind of the artifact that says what became of a question to a person. */
export const PEOPLE_ITEM = "people.item"
/** The kind of the artifact that says which person gave an answer. */
export const PEOPLE_ANSWER = "people.answer"
/** The kind of the artifact that has a question of a person to the agents. */
export const PEOPLE_QUESTION = "people.question"
/** The kind of the artifact that says what became of a turn of an agent that speaks A2A. */
export const A2A_TURN = "a2a.turn"
/** `usageSource` of the model calls that an agent states in its answer to a turn. */
export const A2A_USAGE = "a2a"

const optional = Schema.optionalKey

/** What is reported of a question. */
export const ITEM_EVENTS = ["opened", "escalated", "unreachable", "reminded", "undelivered", "closed"] as const
/** Whom a step of an escalation reaches: a person who may answer, what only tokens can show, or no person. */
const REACHES = ["persons", "unknown", "none"] as const

/** What an event says of a question to a seat. Its texts are ids, times and words of the program. */
export const ItemFact = Schema.Struct({
  item: Schema.String,
  event: Schema.Literals(ITEM_EVENTS),
  seat: Schema.String,
  scenario: optional(Schema.String),
  state: Schema.String,
  /** Whether it closed without an answer of a person, although it was asked until then. */
  unanswered: Schema.Boolean,
  /** The first signs of the hash of the proposal. */
  hash: Schema.String,
  person: optional(Schema.String),
  deadline: optional(Schema.String),
  /** Of an escalation: the step from 1 on, the persons and groups that it adds, and whom it reaches. */
  step: optional(Schema.Int),
  to: optional(Schema.Array(Schema.String)),
  reach: optional(Schema.Literals(REACHES))
})
export type ItemFact = typeof ItemFact.Type

/**
 * What proves that a person gave an answer, the weakest first. `none`: nothing, as the service requires no sign-in.
 * `link`: the person has no sign-in, and who has the link and its code can give it.
 */
export const AnswerProof = Schema.Literals(["none", "link", "slack", "session", "fresh", "passkey"])
export type AnswerProof = typeof AnswerProof.Type

/** What an event says of the answer of a seat, whose message the log has with exactly these bytes. */
export const AnswerFact = Schema.Struct({
  item: Schema.String,
  seat: Schema.String,
  /** Undefined for an act of the deadline, which is the vote of no person. */
  person: optional(Schema.String),
  /** The person whose delegation gave the right to answer. */
  onBehalfOf: optional(Schema.String),
  proof: optional(AnswerProof),
  messageId: Schema.String,
  hash: Schema.String,
  /** Messages between what the person was shown and the answer: how many, by their type. */
  unseen: Schema.Record(Schema.String, Schema.Int),
  askedAt: Schema.String,
  answeredAt: Schema.String,
  deadline: optional(Schema.String),
  /** Whether the votes of others were shown `before` the answer, or `after` it. */
  revealed: Schema.Literals(["after", "before"])
})
export type AnswerFact = typeof AnswerFact.Type

/** What became of a turn: an act of the agent, a failure, or the end of what it was about. */
export const TURN_OUTCOMES = ["acted", "failed", "ended"] as const

/** What an event says of a turn of an agent that speaks A2A. Its texts are ids and words of the program. */
export const TurnFact = Schema.Struct({
  turn: Schema.String,
  participant: Schema.String,
  agentRef: Schema.String,
  outcome: Schema.Literals(TURN_OUTCOMES),
  /** Why it failed. */
  failure: optional(Schema.String),
  /** The first signs of the hash of the proposal. */
  hash: Schema.String
})
export type TurnFact = typeof TurnFact.Type

/** Signs of a proposal's hash that people compare. */
export const SHOWN_HASH_SIGNS = 8

/** Types of unseen messages that are read. */
const MAX_TYPES = 20
const MAX_TEXT = 512

const bound = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT)
const given = (name: string, text: string | undefined) => (text === undefined ? {} : { [name]: bound(text) ?? "" })

/** The question in the data of an artifact's event; undefined when there is none. Total over any JSON. */
export const itemFactIn = (data: JsonObject): ItemFact | undefined => {
  const found = data["kind"] === PEOPLE_ITEM ? objectAt(data, "item") : undefined
  if (found === undefined) return undefined
  const event = ITEM_EVENTS.find((one) => one === textAt(found, "event"))
  const item = bound(textAt(found, "item"))
  const seat = bound(textAt(found, "seat"))
  const state = bound(textAt(found, "state"))
  const isWhole = item !== undefined && seat !== undefined && state !== undefined
  if (!isWhole || event === undefined) return undefined
  const step = numberAt(found, "step")
  const reach = REACHES.find((one) => one === textAt(found, "reach"))
  const to = textsAt(found, "to")
  return {
    item,
    event,
    seat,
    state,
    unanswered: found["unanswered"] === true,
    hash: bound(textAt(found, "hash")) ?? "",
    ...given("scenario", textAt(found, "scenario")),
    ...given("person", textAt(found, "person")),
    ...given("deadline", textAt(found, "deadline")),
    ...(step !== undefined && Number.isInteger(step) && { step }),
    ...(to !== undefined && { to }),
    ...(reach !== undefined && { reach })
  }
}

/** Texts of a list that are read. */
const MAX_TEXTS = 50

const textsAt = (object: JsonObject, name: string): ReadonlyArray<string> | undefined => {
  const found = object[name]
  if (!Array.isArray(found)) return undefined
  return found.slice(0, MAX_TEXTS).flatMap((text) => (typeof text === "string" ? [text.slice(0, MAX_TEXT)] : []))
}

/** The answer in the data of an artifact's event; undefined when there is none. Total over any JSON. */
export const answerFactIn = (data: JsonObject): AnswerFact | undefined => {
  const found = data["kind"] === PEOPLE_ANSWER ? objectAt(data, "answer") : undefined
  if (found === undefined) return undefined
  const text = (name: string) => bound(textAt(found, name))
  const [item, seat, messageId, askedAt, answeredAt] = [
    text("item"),
    text("seat"),
    text("messageId"),
    text("askedAt"),
    text("answeredAt")
  ]
  if (item === undefined || seat === undefined || messageId === undefined) return undefined
  if (askedAt === undefined || answeredAt === undefined) return undefined
  const proof = AnswerProof.literals.find((one) => one === text("proof"))
  return {
    item,
    seat,
    messageId,
    askedAt,
    answeredAt,
    hash: text("hash") ?? "",
    unseen: countsIn(objectAt(found, "unseen") ?? {}),
    revealed: text("revealed") === "before" ? "before" : "after",
    ...(proof !== undefined && { proof }),
    ...given("person", text("person")),
    ...given("onBehalfOf", text("onBehalfOf")),
    ...given("deadline", text("deadline"))
  }
}

const countsIn = (object: JsonObject): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.keys(object)
      .slice(0, MAX_TYPES)
      .flatMap((type) => {
        const count = numberAt(object, type)
        return count !== undefined && Number.isInteger(count) && count > 0 ? [[type.slice(0, MAX_TEXT), count]] : []
      })
  )

/** The turn in the data of an artifact's event; undefined when there is none. Total over any JSON. */
export const turnFactIn = (data: JsonObject): TurnFact | undefined => {
  const found = data["kind"] === A2A_TURN ? objectAt(data, "turn") : undefined
  if (found === undefined) return undefined
  const outcome = TURN_OUTCOMES.find((one) => one === textAt(found, "outcome"))
  const turn = bound(textAt(found, "turn"))
  const participant = bound(textAt(found, "participant"))
  const agentRef = bound(textAt(found, "agentRef"))
  if (turn === undefined || participant === undefined || agentRef === undefined || outcome === undefined)
    return undefined
  const hash = bound(textAt(found, "hash")) ?? ""
  return { turn, participant, agentRef, outcome, hash, ...given("failure", textAt(found, "failure")) }
}
