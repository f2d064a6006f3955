import * as Hex from "effect/encoding/Hex"
import type { ErasureEntry } from "../seals/ErasureChain.ts"
import { canonicalJson } from "../values/CanonicalJson.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** A member of an event or a raw frame that an erasure is about. */
export type PlannedMember = Pick<ErasureEntry, "target" | "index" | "pointer">

/** What an erasure of a run would do: the members that it erases, and those that have the text and stay. */
export interface ErasurePlan {
  readonly runId: string
  readonly members: ReadonlyArray<PlannedMember>
  readonly kept: ReadonlyArray<PlannedMember>
}

const utf8 = new TextEncoder()

/**
 * A plan as the text that the erasure must send back: how many members it erases and keeps, and the SHA-256 of their
 * positions. No value enters it, so it reveals none.
 */
export const planText = (sha256: Sha256, { kept, members, runId }: ErasurePlan): string => {
  const listed = (list: ReadonlyArray<PlannedMember>) =>
    list.map(({ index, pointer, target }) => ({ target, index, pointer }))
  const hash = sha256(utf8.encode(canonicalJson({ runId, members: listed(members), kept: listed(kept) })))
  return `${members.length}-${kept.length}-${Hex.encode(hash)}`
}

const PLAN = /^(\d+)-(\d+)-[0-9a-f]{64}$/

/** Whether a text has the form of a plan. */
export const isPlanText = (text: string): boolean => PLAN.test(text)

/** How the present plan differs from an earlier one, in words; undefined where they are the same. */
export const planDifference = (earlier: string, present: string): string | undefined => {
  if (earlier === present) return undefined
  const [before, after] = [PLAN.exec(earlier), PLAN.exec(present)]
  if (before === null || after === null) return "the plan cannot be read"
  const [, erasedThen, keptThen] = before
  const [, erasedNow, keptNow] = after
  const changes = [
    ...(erasedThen === erasedNow ? [] : [`it erased ${membersText(erasedThen)}, now ${membersText(erasedNow)} match`]),
    ...(keptThen === keptNow ? [] : [`it kept ${membersText(keptThen)}, now ${membersText(keptNow)} stay`])
  ]
  return changes.length === 0 ? "as many members match, and not the same ones" : changes.join("; ")
}

const membersText = (count = "0"): string => (count === "1" ? "1 member" : `${count} members`)
