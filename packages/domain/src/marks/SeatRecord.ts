import { counting } from "../insight/Act.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { isOfDeadline } from "../insight/why/Persons.ts"
import { type AgentRecord, type AgentTally, addVote, agentRecord, emptyTally } from "./AgentRecord.ts"
import type { AgentVote } from "./AgentVote.ts"

/** An answer that comes sooner after its question is a rubber stamp. Milliseconds. */
export const RUBBER_STAMP_MS = 3_000
/** Persons of a seat that are listed, those with the most votes. */
export const MAX_SEAT_PERSONS = 100

/** What the answers of a seat add up to. Of a participant without any there is none. */
export interface SeatTally {
  readonly answers: number
  readonly unanswered: number
  readonly revealedBefore: number
  readonly rubberStamps: number
  readonly persons: ReadonlyMap<string, AgentTally>
}

export const emptySeat: SeatTally = {
  answers: 0,
  unanswered: 0,
  revealedBefore: 0,
  rubberStamps: 0,
  persons: new Map()
}

/** The answers of a participant in one run; undefined for a participant that has none there. */
export const seatAnswers = (run: Deliberation, participantId: string): Omit<SeatTally, "persons"> | undefined => {
  let { answers, revealedBefore, rubberStamps, unanswered } = emptySeat
  for (const act of counting(run.acts)) {
    const { answer, by } = act
    if (answer === undefined || by !== participantId) continue
    if (isOfDeadline(act)) {
      unanswered += 1
      continue
    }
    answers += 1
    if (answer.revealed === "before") revealedBefore += 1
    if (Date.parse(answer.answeredAt) - Date.parse(answer.askedAt) < RUBBER_STAMP_MS) rubberStamps += 1
  }
  return answers + unanswered === 0 ? undefined : { answers, unanswered, revealedBefore, rubberStamps }
}

/** Adds the answers of one run, and its vote to the person whose vote it is. */
export const addSeat = (
  so: SeatTally,
  answers: Omit<SeatTally, "persons">,
  vote: AgentVote | undefined,
  truth: boolean | undefined
): SeatTally => {
  const persons = new Map(so.persons)
  if (vote?.person !== undefined) {
    persons.set(vote.person, addVote(persons.get(vote.person) ?? emptyTally, vote, truth))
  }
  return {
    answers: so.answers + answers.answers,
    unanswered: so.unanswered + answers.unanswered,
    revealedBefore: so.revealedBefore + answers.revealedBefore,
    rubberStamps: so.rubberStamps + answers.rubberStamps,
    persons
  }
}

/** The votes of one person for a seat. */
export interface PersonRecord extends Pick<AgentRecord, "runs" | "judged" | "right" | "rightShare" | "rightInterval"> {
  readonly person: string
}

/** The answers of a seat, and the persons beside it, those with the most votes first. */
export interface SeatRecord extends Omit<SeatTally, "persons"> {
  readonly persons: ReadonlyArray<PersonRecord>
}

export const seatRecord = ({ persons, ...sums }: SeatTally): SeatRecord => ({
  ...sums,
  persons: [...persons]
    .toSorted(([id, one], [otherId, other]) => other.runs - one.runs || (id < otherId ? -1 : 1))
    .slice(0, MAX_SEAT_PERSONS)
    .map(([person, tally]) => {
      const { judged, right, rightInterval, rightShare, runs } = agentRecord(tally)
      return {
        person,
        runs,
        judged,
        right,
        ...(rightShare !== undefined && { rightShare }),
        ...(rightInterval !== undefined && { rightInterval })
      }
    })
})

const of = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Persons that the words name. */
const MAX_NAMED = 5

/** `; votes that count: ada 5, bo 2` */
const votesText = (persons: SeatTally["persons"]): string => {
  const listed = seatRecord({ ...emptySeat, persons }).persons
  if (listed.length === 0) return ""
  const named = listed.slice(0, MAX_NAMED).map(({ person, runs }) => `${person} ${runs}`)
  const others = persons.size - named.length
  return `; votes that count: ${named.join(", ")}${others > 0 ? ` and ${others} more` : ""}`
}

/** The answers of a seat in words: how many, of how many persons, how fast, and what was shown before. */
export const seatText = ({ answers, persons, revealedBefore, rubberStamps, unanswered }: SeatTally): string => {
  const parts = [`A seat: people gave ${of(answers, "answer")}${votesText(persons)}.`]
  if (unanswered > 0) {
    parts.push(`${of(unanswered, "act")} of the deadline ${unanswered === 1 ? "is" : "are"} the vote of no person.`)
  }
  if (rubberStamps > 0) {
    parts.push(`${of(rubberStamps, "answer")} came within ${RUBBER_STAMP_MS / 1_000} s of the question.`)
  }
  if (revealedBefore > 0) {
    parts.push(`${of(revealedBefore, "answer")} came with the votes of the others shown before.`)
  }
  return parts.join(" ")
}
