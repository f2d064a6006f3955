import type { Person } from "../Person.ts"

/** The longest time of a delegation. Milliseconds. */
export const MAX_DELEGATION_MS = 90 * 86_400_000
/** How much before now a delegation may begin: the clock of its author may be behind. Milliseconds. */
const PAST_MS = 5 * 60_000

/** A right of one person that another one uses for some time. It passes on what the person has by itself, no more. */
export interface Delegation {
  readonly id: string
  /** The person who delegates, with its groups. */
  readonly by: Pick<Person, "id" | "groups" | "packGroups">
  /** The id of the delegate. */
  readonly to: string
  readonly fromUnixMs: number
  readonly untilUnixMs: number
  /** `pack/scenario`, with or without `@version`; undefined: each scenario. */
  readonly scenarios: ReadonlyArray<string> | undefined
  readonly revokedAtUnixMs: number | undefined
}

/** Where a delegation is in its life. */
export type DelegationState = "planned" | "active" | "ended" | "revoked"

export const delegationState = (
  { fromUnixMs, revokedAtUnixMs, untilUnixMs }: Pick<Delegation, "fromUnixMs" | "revokedAtUnixMs" | "untilUnixMs">,
  nowUnixMs: number
): DelegationState => {
  if (revokedAtUnixMs !== undefined && revokedAtUnixMs <= nowUnixMs) return "revoked"
  if (nowUnixMs >= untilUnixMs) return "ended"
  return nowUnixMs < fromUnixMs ? "planned" : "active"
}

/** Whether a delegation gives a right in a scenario now. */
export const isInEffect = (delegation: Delegation, scenarioRef: string, nowUnixMs: number): boolean => {
  const [unversioned] = scenarioRef.split("@")
  const { scenarios } = delegation
  const covers = scenarios?.some((one) => one === scenarioRef || one === unversioned) ?? true
  return covers && delegationState(delegation, nowUnixMs) === "active"
}

/** A delegation before it is stored. */
export interface NewDelegation {
  readonly by: string
  readonly to: string
  readonly fromUnixMs: number
  readonly untilUnixMs: number
}

/** Why a delegation is not stored, with the field; undefined for one that is. */
export const delegationFault = (
  { by, fromUnixMs, to, untilUnixMs }: NewDelegation,
  nowUnixMs: number
): { readonly field: "to" | "from" | "until"; readonly message: string } | undefined => {
  if (folded(to) === folded(by)) return { field: "to", message: "a person does not delegate to itself" }
  if (fromUnixMs < nowUnixMs - PAST_MS) {
    return { field: "from", message: "this time is over: leave it out for a delegation from now on" }
  }
  if (fromUnixMs > nowUnixMs + MAX_DELEGATION_MS) {
    return { field: "from", message: "a delegation begins at most 90 days from now" }
  }
  if (untilUnixMs <= nowUnixMs) return { field: "until", message: "this time is over" }
  if (untilUnixMs <= fromUnixMs) return { field: "until", message: "the end is not after the beginning" }
  if (untilUnixMs - fromUnixMs > MAX_DELEGATION_MS) {
    return { field: "until", message: "a delegation lasts at most 90 days of 24 hours" }
  }
  return undefined
}

/** Ids that look alike are one person here: what is refused too much can be delegated under another id. */
const folded = (id: string): string => id.normalize("NFKC").trim().toLowerCase()
