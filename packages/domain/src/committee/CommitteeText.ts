import { percentText } from "../values/Percent.ts"
import type { EffectiveVotes, Independence, MissingRuns } from "./IndependenceTypes.ts"
import type { ShadowWorth } from "./ShadowWorth.ts"
import type { CommitteeSearch, SeatWorth } from "./WorthTypes.ts"

/** Seats that a sentence names. */
const MAX_NAMED = 3

const of = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

const more = (count: number, noun: string) => `${count} more ${noun}${count === 1 ? "" : "s"}`

const named = (texts: ReadonlyArray<string>): string => {
  const others = texts.length - MAX_NAMED
  const shown = texts.slice(0, MAX_NAMED)
  if (others > 0) return `${shown.join(", ")} and ${others} more`
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`
}

const votes = (value: number, isOrMore = false) => `${value.toFixed(1)}${isOrMore ? " or more" : ""}`

/** `2.1 (1.7 to 2.8)`: the effective votes with their interval; undefined without a number. */
export const effectiveVotesText = (found: EffectiveVotes): string | undefined => {
  if (found.kind === "unknown") return undefined
  const { interval, isOrMore, value } = found
  return `${votes(value, isOrMore)} (${votes(interval.low)} to ${votes(interval.high, interval.isHighOrMore)})`
}

/** What is missing before there is a number, in words. */
export const missingText = ({ cases, seats }: MissingRuns): string => {
  const needs = seats.flatMap(({ cases: own, errors, right, seat }) => {
    const parts = [
      ...(own > cases ? [more(own, "case")] : []),
      ...(errors > 0 ? [more(errors, "error")] : []),
      ...(right > 0 ? [more(right, "right vote")] : [])
    ]
    return parts.length === 0 ? [] : [`${parts.join(" and ")} of ${seat}`]
  })
  const others = needs.length - MAX_NAMED
  return [
    ...(cases > 0 ? [`${more(cases, "case")} with a mark correct`] : []),
    ...needs.slice(0, MAX_NAMED),
    ...(others > 0 ? [`and some of ${others === 1 ? "one other seat" : `${others} other seats`}`] : [])
  ].join(", ")
}

/** The independence of a committee in one line. */
export const independenceText = ({ effectiveVotes, seats }: Pick<Independence, "effectiveVotes" | "seats">): string => {
  const all = of(seats.length, "seat")
  if (effectiveVotes.kind === "known") {
    const { hasFewErrors, seats: counted } = effectiveVotes
    const some = counted.length < seats.length ? ` of the ${counted.length} that count` : ""
    const few = hasFewErrors ? "; few errors, the interval may be too narrow" : ""
    return `${all}, ${effectiveVotesText(effectiveVotes)} independent votes${some}${few}`
  }
  return effectiveVotes.reason === "no correlation"
    ? `${all}, no number of independent votes: fewer than two of them are sometimes right and sometimes wrong`
    : `${all}, no number of independent votes yet, which needs ${missingText(effectiveVotes.missing)}`
}

/** What the seats of a committee are worth in one line: the one that decisions need least. */
export const worthText = (seats: ReadonlyArray<SeatWorth>): string => {
  const all = of(seats.length, "seat")
  const counted = seats.filter(({ runs }) => runs > 0)
  const [least] = counted.toSorted(
    (one, other) => one.changed.rate - other.changed.rate || other.costPerRunUsd - one.costPerRunUsd
  )
  if (least === undefined) return `${all}, no run can be counted again without one of them`
  const { changed, idle, seat } = least
  const bound = idle === undefined ? "" : `, at most ${percentText(idle.atMost)} at 95 %`
  return `${all}; without ${seat} ${changed.count} of ${of(changed.n, "decision")} would be refused${bound}`
}

/** What a search found in one line; `policies` are the names of those that were tried, too, by their index. */
export const searchResultText = (found: CommitteeSearch, policies: ReadonlyArray<string> = []): string => {
  if (found.kind === "refused") return `too few runs: ${of(found.missing, "case")} are missing`
  if (found.kind === "none") {
    const under = policies.length === 0 ? "" : ", under no policy that was tried"
    return found.reason === "none chosen"
      ? `No smaller committee is cheaper and has the same outcomes on the first half of the cases${under}`
      : "The smaller committee that was chosen on one half of the cases failed on the other, so no committee is named"
  }
  const { agreement, policy, removed, saved } = found.committee
  const { cases } = found.search.confirming
  const cheaper = saved.costShare === undefined ? "without a known saving" : `${percentText(saved.costShare)} cheaper`
  const same = agreement.rate === 1 ? `all ${of(cases, "case")}` : `${Math.floor(agreement.rate * 100)} of 100 cases`
  const without = policy === undefined ? "Without" : `Under ${policies[policy] ?? "another policy"} without`
  return `${without} ${named(removed)} ${cheaper}, same outcome in ${same} (at least ${percentText(Math.floor(agreement.lowerBound * 1_000) / 1_000, 1)})`
}

/** What a shadow would have changed in place of its participant, in one line. */
export const shadowWorthText = ({ as, changed, idle, notCounted, paired, shadow, tried }: ShadowWorth): string => {
  const { isTooFew, p, participantRight, runs, shadowRight } = paired
  const silent = notCounted["no vote of the shadow"] ?? 0
  if (silent === tried) return `${shadow} has voted in none of ${of(tried, "run")}`
  const bound = idle === undefined ? "" : `, at most ${percentText(idle.atMost)} at 95 %`
  const refused =
    changed.n === 0
      ? `no run can be counted again with ${shadow} in place of ${as}`
      : `with ${shadow} in place of ${as} ${changed.count} of ${of(changed.n, "decision")} would be refused${bound}`
  if (runs === 0) return `${refused}; no run with a mark correct has votes of both`
  const right = `it is right in ${shadowRight} of ${of(runs, "run")}, ${as} in ${participantRight}`
  return `${refused}; ${right}: ${isTooFew ? "too few cases to compare them" : pText(p)}`
}

/** Below this a difference is not taken for chance. */
const ALPHA = 0.05

const pText = (p: number): string =>
  `p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`}${p > ALPHA ? ", may be chance" : ""}`
