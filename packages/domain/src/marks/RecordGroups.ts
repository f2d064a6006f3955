import { shareDifference } from "../statistics/Newcombe.ts"
import type { ShareInterval } from "../statistics/Wilson.ts"
import { percentText } from "../values/Percent.ts"
import { type AgentRecord, type AgentTally, addVote, agentRecord, emptyTally } from "./AgentRecord.ts"
import type { AgentVote } from "./AgentVote.ts"
import { LEAST_PAIRS } from "./RaterAgreement.ts"

/** What the record of an agent is listed by (docs/reference/marks.md#record-by). */
export const RECORD_GROUPS = ["prompt", "model", "policyVersion", "week"] as const
export type RecordGroup = (typeof RECORD_GROUPS)[number]

/** Groups of a record, those of the latest runs. */
export const MAX_RECORD_GROUPS = 100

/** What is known about a vote; undefined for what its run does not record. */
export type VoteFacts = Readonly<Record<RecordGroup, string | undefined>>

/** Characters of a hash that readers compare. */
const HASH_DIGITS = 12

/** The name of a prompt for readers: its name, its version and the begin of its hash, as far as they are known. */
export const promptText = ({
  hash,
  name,
  version
}: {
  readonly name: string | null
  readonly version: string | null
  readonly hash: string | null
}): string | undefined => {
  const words = [name, version].filter((part) => part !== null && part !== "").join(" ")
  if (hash === null || hash === "") return words === "" ? undefined : words
  const short = hash.slice(0, HASH_DIGITS)
  return words === "" ? short : `${words} (${short})`
}

/** The sums of an agent, and the same of each group; the votes of the latest runs come first. */
export interface GroupedTally {
  readonly all: AgentTally
  readonly groups: Readonly<Record<RecordGroup, ReadonlyMap<string, AgentTally>>>
  /** Votes whose group is not known. */
  readonly unknown: Readonly<Record<RecordGroup, AgentTally>>
  /** Votes of older groups than are kept. */
  readonly older: Readonly<Record<RecordGroup, AgentTally>>
}

const ofEach = <A>(make: (group: RecordGroup) => A): Readonly<Record<RecordGroup, A>> => ({
  prompt: make("prompt"),
  model: make("model"),
  policyVersion: make("policyVersion"),
  week: make("week")
})

export const emptyGroups: GroupedTally = {
  all: emptyTally,
  groups: ofEach(() => new Map()),
  unknown: ofEach(() => emptyTally),
  older: ofEach(() => emptyTally)
}

/** Adds a vote with what is known about it. */
export const addGroupedVote = (
  { all, groups, older, unknown }: GroupedTally,
  vote: AgentVote,
  truth: boolean | undefined,
  facts: VoteFacts
): GroupedTally => {
  const isKept = (group: RecordGroup, name: string) => groups[group].has(name) || groups[group].size < MAX_RECORD_GROUPS
  return {
    all: addVote(all, vote, truth),
    groups: ofEach((group) => {
      const name = facts[group]
      return name === undefined || !isKept(group, name)
        ? groups[group]
        : new Map(groups[group]).set(name, addVote(groups[group].get(name) ?? emptyTally, vote, truth))
    }),
    unknown: ofEach((group) => (facts[group] === undefined ? addVote(unknown[group], vote, truth) : unknown[group])),
    older: ofEach((group) => {
      const name = facts[group]
      return name !== undefined && !isKept(group, name) ? addVote(older[group], vote, truth) : older[group]
    })
  }
}

/** The votes of one prompt, model, policy version or week. */
export interface GroupRecord extends Omit<AgentRecord, "reliability"> {
  /** Absent for votes whose group is not known. */
  readonly name?: string
}

/** The records of the groups, that of the latest run first, at the end that of the votes whose group is not known. */
export const groupRecords = ({ groups, unknown }: GroupedTally, by: RecordGroup): ReadonlyArray<GroupRecord> => {
  const recordOf = (tally: AgentTally): Omit<AgentRecord, "reliability"> => {
    const { reliability: _, ...record } = agentRecord(tally)
    return record
  }
  return [
    ...Array.from(groups[by], ([name, tally]) => ({ name, ...recordOf(tally) })),
    ...(unknown[by].runs > 0 ? [recordOf(unknown[by])] : [])
  ]
}

const points = (share: number) => String(Math.round(share * 100))

type Right = Pick<AgentRecord, "judged" | "right" | "rightInterval" | "rightShare">

/** `76 % of 54 (63 % to 85 %)`; the plain numbers of a single decision, of which a share says nothing. */
const rightText = ({ judged, right, rightInterval, rightShare }: Right): string =>
  rightShare === undefined || rightInterval === undefined
    ? "0 of 0"
    : judged === 1
      ? `${right} of 1`
      : `${percentText(rightShare)} of ${judged} (${percentText(rightInterval.low)} to ${percentText(rightInterval.high)})`

const shareOf = ({ rightInterval = { low: 0, high: 1 }, rightShare = 0 }: Right): ShareInterval => ({
  rate: rightShare,
  ...rightInterval
})

const confidenceText = ({ confidence }: Pick<AgentRecord, "confidence">): string => {
  if (confidence === undefined) return "Its judged votes state no confidence."
  const { gap, mean, n, right } = confidence
  const figures = `it states ${percentText(mean)} and is right in ${percentText(right)} of ${n}`
  if (n < LEAST_PAIRS) {
    return `Whether its confidence fits is open with ${n} of at least ${LEAST_PAIRS} votes that state one.`
  }
  const range = `${points(gap.low)} to ${points(gap.high)}`
  if (gap.low > 0) return `Overconfident by ${points(gap.value)} points (${range}): ${figures}.`
  return gap.high < 0
    ? `Underconfident by ${points(-gap.value)} points (${points(-gap.high)} to ${points(-gap.low)}): ${figures}.`
    : `Neither over- nor underconfident as far as ${n} votes show: ${figures}, a difference of ${range} points.`
}

/** The latest prompt beside those before it; undefined where the runs record one prompt or none. */
const promptsText = ({ all, groups, unknown }: GroupedTally): string | undefined => {
  const judged = Array.from(groups.prompt, ([name, tally]) => ({ name, tally }))
  const [latest] = judged
  const open = unknown.prompt.judged > 0 ? `; the runs of ${unknown.prompt.judged} record no prompt` : ""
  if (latest === undefined) return all.judged === 0 ? undefined : "Its runs record no prompt."
  const after = agentRecord(latest.tally)
  const rest = {
    judged: all.judged - unknown.prompt.judged - after.judged,
    right: all.right - unknown.prompt.right - after.right
  }
  if (judged.length === 1) return `All with the prompt ${latest.name}${open}.`
  if (after.judged === 0) return `With the latest prompt ${latest.name} no decision is judged yet${open}.`
  if (rest.judged === 0)
    return `With the latest prompt ${latest.name} all of them, with earlier ones no decision is judged${open}.`
  const before = agentRecord({ ...emptyTally, ...rest })
  const { high, low, value } = shareDifference(shareOf(after), shareOf(before))
  const isShown = low > 0 || high < 0
  const step = `${points(Math.abs(value))} points ${value < 0 ? "less" : "more"} (difference ${points(low)} to ${points(high)})`
  return `With the latest prompt ${latest.name} right in ${rightText(after)}, before in ${rightText(before)}: ${step}${isShown ? "" : ", which may be chance"}${open}.`
}

/**
 * The record of an agent in words, each number with its interval of 95 %. `since` is the begin of the time as a date;
 * `isCut`, whether there are more runs than were read.
 */
export const recordText = (
  tally: GroupedTally,
  { isCut, since }: { readonly since?: string; readonly isCut: boolean }
): string => {
  const { all } = tally
  const time = `${since === undefined ? "" : ` since ${since}`}${isCut ? ", of the latest runs" : ""}`
  if (all.runs === 0) return `It voted in no decided run${time}.`
  if (all.judged === 0) {
    return `It voted in ${all.runs} decided ${all.runs === 1 ? "run" : "runs"}${time}, and no decision of them is judged: nothing says how often it was right.`
  }
  const record = agentRecord(all)
  const noun = all.judged === 1 ? "judged decision" : "judged decisions"
  const [share, ...rest] = rightText(record).split(" (")
  const interval = rest.length === 0 ? "" : ` (${rest.join(" (")}`
  const first = `Right in ${share} ${noun}${time}${interval}.`
  return [first, promptsText(tally), confidenceText(record)].filter((part) => part !== undefined).join(" ")
}
