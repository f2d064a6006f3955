import type { AnswerFact, ItemFact } from "../events/PeopleFacts.ts"
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
  seat,
  state,
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

/** Who gave the answer of a seat, or that its deadline acted. */
export const answerSentence = ({ deadline, hash, person, seat }: AnswerFact): Sentence => {
  const of = ofSeat(seat, hash)
  if (person !== undefined) {
    return { ...of, verb: "has the answer of", object: `person:${person}`, tone: "calm", weight: "normal" }
  }
  return { ...of, ...noAnswer(deadline), note: phrase`so its deadline acts`, tone: "warn", weight: "high" }
}

const noAnswer = (deadline: string | undefined) =>
  deadline === undefined ? { verb: "gives no answer" } : { verb: "gives no answer by", object: minuteText(deadline) }
