import { type ErasureEntry, type PlannedMember, withoutEventMembers, withoutFrameMembers } from "@runplane/domain"
import type { RewrittenText } from "../../event-log/erasure/ErasableLog.ts"
import type { SaltedText } from "../../event-log/erasure/SaltedTexts.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** An event or a raw frame that has lost values, and the entries of their erasure. */
export interface Rewritten extends RewrittenText {
  readonly target: PlannedMember["target"]
  readonly entries: ReadonlyArray<ErasureEntry>
}

/** When, by whom and why. */
type Stamp = Pick<ErasureEntry, "at" | "by" | "reason">

/**
 * The texts without their members. A member that is not erasable is a defect: it was found among those that are, under
 * the lock that is still held.
 */
export const rewritten = (
  target: PlannedMember["target"],
  rows: ReadonlyArray<SaltedText>,
  members: ReadonlyMap<number, ReadonlyArray<PlannedMember>>,
  stamp: Stamp
): ReadonlyArray<Rewritten> =>
  rows.map(({ bytes, index, salts, seq }) => {
    const pointers = (members.get(index) ?? []).map(({ pointer }) => pointer)
    const named = pointers.map((pointer) => ({ pointer, at: stamp.at, reason: stamp.reason }))
    const erased =
      target === "event"
        ? withoutEventMembers(sha256, bytes, salts, named)
        : withoutFrameMembers(sha256, bytes, salts, named)
    if (erased === undefined)
      throw new Error(`${target} ${index} has no erasable member with a salt among ${pointers.join(", ")}`)
    const entries = pointers.map(
      (pointer, at): ErasureEntry => ({
        ...{ target, index, pointer, digest: erased.digests[at] ?? "" },
        ...{ at: stamp.at, by: stamp.by, reason: stamp.reason }
      })
    )
    return { target, seq, salts: erased.salts, bytes: erased.text, entries }
  })
