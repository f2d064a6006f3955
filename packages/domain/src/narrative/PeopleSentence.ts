import type { AnswerFact, ItemFact, TurnFact } from "../events/PeopleFacts.ts"
import { minuteText } from "../values/IsoTime.ts"
import { phrase } from "../values/Phrase.ts"
import type { Sentence } from "./Sentence.ts"

/** The state of a closed question in words. An accepted one has the sentence of its answer. */
const CLOSED: ReadonlyMap<string, string> = new Map([
  ["stale", "is not asked any more, as the session has changed"],
  ["not-needed", "is not asked any more, as no act of it changes the outcome"],
  ["withdrawn", "is not asked any more"],
  ["refused", "has an answer that the runtime refuses"],
  ["unknown", "has an answer whose message was found nowhere"]
])

const ofSeat = (seat: string, hash: string) =>
  ({ kind: "question", who: seat, by: "participant", detail: phrase`hash ${hash}` }) as const

/** What became of a question to a person; undefined where another sentence says it. */
export const questionSentence = ({
  deadline,
  event,
  hash,
  reach,
  seat,
  state,
  to = [],
  unanswered
}: ItemFact): Sentence | undefined => {
  const of = ofSeat(seat, hash)
  if (event === "opened") {
    const by = deadline === undefined ? {} : { verb: "is to answer by", object: minuteText(deadline) }
    return { ...of, verb: "is to answer", ...by, tone: "accent", weight: "normal" }
  }
  if (event === "reminded") {
    const by = deadline === undefined ? {} : { object: minuteText(deadline) }
    return { ...of, verb: "is reminded to answer by", ...by, tone: "accent", weight: "low" }
  }
  if (event === "undelivered") {
    return { ...of, verb: "has a question of which no person was notified", tone: "warn", weight: "high" }
  }
  if (event === "escalated" || event === "unreachable") return escalationSentence(of, event, to, reach)
  if (state === "expired") return { ...of, ...noAnswer(deadline), tone: "warn", weight: "high" }
  const verb = CLOSED.get(state)
  if (verb === undefined) return undefined
  const isLost = unanswered || state === "refused" || state === "unknown"
  return {
    ...of,
    verb,
    note: unanswered ? phrase`and gave no answer` : undefined,
    tone: isLost ? "warn" : "calm",
    weight: isLost ? "high" : "low"
  }
}

const escalationSentence = (
  of: ReturnType<typeof ofSeat>,
  event: "escalated" | "unreachable",
  to: ReadonlyArray<string>,
  reach: ItemFact["reach"]
): Sentence => {
  const names = to.length === 0 ? {} : { object: to.join(", ") }
  if (event === "unreachable") {
    const verb = `has no person to escalate its question to${to.length === 0 ? "" : ", in"}`
    return { ...of, verb, ...names, tone: "warn", weight: "high" }
  }
  const verb = "has its question escalated to"
  return reach === "persons"
    ? { ...of, verb, ...names, tone: "accent", weight: "normal" }
    : { ...of, verb, ...names, note: phrase`and no person of these is known`, tone: "warn", weight: "high" }
}

const BY_LINK = phrase`by a personal link, the weakest proof`

/** Who gave the answer of a seat, or that its deadline acted. */
export const answerSentence = ({ deadline, hash, onBehalfOf, person, proof, seat }: AnswerFact): Sentence => {
  const of = ofSeat(seat, hash)
  if (person !== undefined) {
    const behalf = onBehalfOf === undefined ? undefined : phrase`on behalf of person:${onBehalfOf}`
    const isLink = proof === "link"
    const note = isLink ? (behalf === undefined ? BY_LINK : phrase`${behalf}, ${BY_LINK}`) : behalf
    return {
      ...{ ...of, verb: "has the answer of", object: `person:${person}`, note },
      tone: isLink ? "warn" : "calm",
      weight: "normal"
    }
  }
  return { ...of, ...noAnswer(deadline), note: phrase`so its deadline acts`, tone: "warn", weight: "high" }
}

const noAnswer = (deadline: string | undefined) =>
  deadline === undefined ? { verb: "gives no answer" } : { verb: "gives no answer by", object: minuteText(deadline) }

/** A failed turn of an agent that speaks A2A; undefined for the others: an act has its own sentence. */
export const turnSentence = ({ failure, hash, outcome, participant }: TurnFact): Sentence | undefined =>
  failure === undefined
    ? undefined
    : {
        ...ofSeat(participant, hash),
        verb: "has a failed turn:",
        object: failure,
        note: outcome === "acted" ? phrase`so it abstains` : phrase`and does not act`,
        tone: "warn",
        weight: "high"
      }
