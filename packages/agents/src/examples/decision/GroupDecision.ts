import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** What the scenario says about its policy; only advice, the runtime evaluates the registered policy. */
export const PolicyHints = Schema.Struct({
  type: Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed("none"))),
  threshold: Schema.Finite.pipe(Schema.withDecodingDefault(Effect.succeed(0.5))),
  vetoEnabled: Schema.Boolean.pipe(Schema.withDecodingDefault(Effect.succeed(false))),
  vetoThreshold: Schema.Finite.pipe(Schema.withDecodingDefault(Effect.succeed(1)))
})

export type PolicyHints = typeof PolicyHints.Type

const decode = Schema.decodeUnknownOption(PolicyHints)
const noHints = Schema.decodeUnknownSync(PolicyHints)({})

export const hintsOf = (hints: unknown): PolicyHints => Option.getOrElse(decode(hints ?? {}), () => noHints)

/** What the group said so far, its lead excepted. */
export interface GroupRecord {
  readonly specialists: ReadonlyArray<string>
  /** Participant to APPROVE, REJECT or ABSTAIN. */
  readonly votes: ReadonlyMap<string, string>
  readonly criticalObjections: number
}

export interface Call {
  readonly action: "decision.selected" | "decision.rejected"
  readonly outcomePositive: boolean
  readonly vote: "APPROVE" | "REJECT"
  readonly reason: string
}

/**
 * The lead's call: go or no-go such that the lead's own vote on the same side keeps the tally of the policy on that
 * side. A veto, or a group that did not decide, is a no-go.
 */
export const decide = (hints: PolicyHints, record: GroupRecord): Call => {
  const cast = [...record.votes.values()]
  const approve = cast.filter((vote) => vote === "APPROVE").length
  const reject = cast.filter((vote) => vote === "REJECT").length
  const tally = `${approve} approve, ${reject} reject of ${record.specialists.length} specialists`
  if (hints.vetoEnabled && record.criticalObjections >= hints.vetoThreshold) {
    return noGo(`vetoed by ${record.criticalObjections} critical objection(s); ${tally}`)
  }
  return carries(hints, record, approve, reject)
    ? { action: "decision.selected", outcomePositive: true, vote: "APPROVE", reason: `go: ${tally}` }
    : noGo(`no-go: ${tally}`)
}

const carries = ({ threshold, type }: PolicyHints, { specialists }: GroupRecord, approve: number, reject: number) => {
  if (approve + reject === 0) return false
  switch (type) {
    case "unanimous":
      return reject === 0 && approve === specialists.length
    case "none":
    case "plurality":
      return approve > reject
    default:
      return approve / (approve + reject) >= threshold
  }
}

const noGo = (reason: string): Call => ({ action: "decision.rejected", outcomePositive: false, vote: "REJECT", reason })
