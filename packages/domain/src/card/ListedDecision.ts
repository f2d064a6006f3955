import * as Schema from "effect/Schema"
import { counting } from "../insight/Act.ts"
import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import { ballotOf, subjectsOf, type VoteValue } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { decidingActs, optionsOf } from "../insight/Proposals.ts"
import { boundName, boundProse } from "../values/Bounds.ts"
import { Field } from "../values/Field.ts"
import { CardTally, HeadCount } from "./Card.ts"
import { VerdictState } from "./CardVerdict.ts"
import { cardWithoutReasons } from "./DecisionCard.ts"
import { VoteSide } from "./Voters.ts"

/** Voters of a run in a list. */
export const MAX_LISTED_VOTERS = 25
/** Bytes of a question in a list. */
const MAX_QUESTION = 512
/** Bytes of the searchable options of a run, and ballots of it that a search finds. */
const MAX_OPTIONS = 4_096
const MAX_BALLOTS = 1_000
/** Characters of a name in a key. */
const MAX_KEY_NAME = 200

const optional = Schema.optionalKey

/** The decision of a run in a list (docs/reference/runs.md#decision). */
export const ListedDecision = Schema.Struct({
  verdict: VerdictState,
  word: Field.text("The verdict in words", "Approved"),
  action: optional(Field.text("Action of the commitment", "decision.selected")),
  question: optional(
    Field.text("What the session is for, as its opener states it; without that the committed option", "Fail over now?")
  ),
  counts: Field.text("The figures in one line", "5 for, 1 against, 6 of 7 voted"),
  /** On the committed proposal, or the only one; absent where several are open. */
  heads: optional(HeadCount),
  seats: optional(
    Schema.Array(
      Schema.Tuple([Schema.String, VoteSide, Schema.Finite]).annotate({ description: "Participant, vote, weight" })
    )
  ).annotate({
    description: `The same by participant, in the order of the ring; absent for more than ${MAX_LISTED_VOTERS}`
  }),
  tally: optional(CardTally),
  case: optional(
    Field.text(
      "Equal for runs of one gate case, else for runs of one scenario, whatever its version, with the same intent and the same first proposal; absent before a proposal",
      "5d41402abc4b2a76b9719d911017c592"
    )
  ),
  asOfSeq: Field.integer("The last event that it counts", 52)
}).annotate({ identifier: "ListedDecision", description: "The decision of a run, as lists show it" })
export type ListedDecision = typeof ListedDecision.Type

/** What is kept of a run's decision, for lists and searches. */
export interface DecisionFacts {
  readonly listed: ListedDecision
  /** What it is about, equal for two runs of the same case of a scenario; undefined before its first proposal. */
  readonly subject: string | undefined
  /** The options of its proposals, a line each. */
  readonly options: string
  /** The last ballots of its participants on each proposal: "REJECT risk-officer" (`voteKey`). */
  readonly ballots: ReadonlyArray<string>
  /** Participants whose last ballot on the committed proposal is against the committed outcome. */
  readonly dissenters: ReadonlyArray<string>
}

/** A ballot of a participant as a search finds it. */
export const voteKey = (vote: string, participantId: string): string => `${vote} ${nameKey(participantId)}`

/** A participant as a search finds it; PostgreSQL stores no NUL. */
export const nameKey = (participantId: string): string =>
  participantId.replaceAll("\u0000", "").slice(0, MAX_KEY_NAME).toWellFormed()

/** The facts of a run's decision, from its record alone. Linear in its acts. */
export const decisionFacts = (run: Deliberation, { sessionRules }: ActivePolicy): DecisionFacts => {
  const {
    action,
    counts,
    question,
    rings,
    ringsLeftOut = 0,
    tally,
    verdict,
    word
  } = cardWithoutReasons(run, sessionRules)
  const acts = counting(decidingActs(run))
  const [first] = rings
  const ring = first?.committed === true || rings.length + ringsLeftOut === 1 ? first : undefined
  const last = new Map<string, VoteValue>()
  const subjects = new Set(subjectsOf(acts))
  for (const act of acts) {
    const ballot = ballotOf(act)
    if (ballot !== undefined && subjects.has(act.proposalId)) last.set(JSON.stringify([act.by, act.proposalId]), ballot)
  }
  const ballots = new Set<string>()
  for (const [key, ballot] of last) {
    const [by = ""]: ReadonlyArray<string> = JSON.parse(key)
    ballots.add(voteKey(ballot, by))
  }
  const positive = run.commitment?.positive ?? null
  const opposite = positive === null ? undefined : positive ? "against" : "for"
  const dissenters = (ring?.committed === true ? ring.seats : []).filter(({ vote }) => vote === opposite)
  return {
    listed: {
      verdict,
      word,
      ...(action !== undefined && { action: boundName(action) }),
      ...(question !== undefined && { question: boundProse(question, MAX_QUESTION) }),
      counts: boundProse(counts, MAX_QUESTION),
      ...(ring !== undefined && { heads: ring.counts }),
      ...(ring !== undefined &&
        ring.seats.length <= MAX_LISTED_VOTERS && {
          seats: ring.seats.map(({ participantId, vote, weight }) => [boundName(participantId), vote, weight] as const)
        }),
      ...(tally !== undefined && { tally }),
      asOfSeq: run.at?.seq ?? 0
    },
    subject: run.subject,
    options: boundProse(
      optionsOf(acts)
        .map(([, option]) => option)
        .join("\n"),
      MAX_OPTIONS
    )
      .replaceAll("\u0000", "")
      .toWellFormed(),
    ballots: [...ballots].slice(-MAX_BALLOTS),
    dissenters: dissenters.map(({ participantId }) => nameKey(participantId)).slice(0, MAX_BALLOTS)
  }
}
