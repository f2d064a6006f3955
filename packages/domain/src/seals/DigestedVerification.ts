import * as Result from "effect/Result"
import type { Sha256 } from "../values/Sha256.ts"
import { type DigestedSeal, signedDigestedSeal } from "./DigestedSeal.ts"
import { digestedEvent, digestedNext, digestedStart, type MemberSalts } from "./DigestedText.ts"
import { type ErasedMember, servedEvent } from "./ErasedEvent.ts"
import type { ErasureEntry } from "./ErasureChain.ts"
import { checkErasures } from "./ErasureVerification.ts"
import type { Seal, SignatureCheck } from "./Seal.ts"
import {
  type Heads,
  type Links,
  type Mismatch,
  type SignatureState,
  signatureOf,
  startWalk,
  type Verification,
  walkSealed
} from "./Verification.ts"

/** A history as it was served, with what proves that its missing values were erased. */
export interface ErasableHistory {
  /** The text of each event as UTF-8, exactly as it was served, in order. */
  readonly events: Iterable<Uint8Array>
  readonly heads?: Heads
  /** The salts of each event; undefined in version 1, which has none. */
  readonly salts?: ReadonlyArray<MemberSalts> | undefined
  /** The appendix of erasures as its bytes; undefined for a run of which nothing was erased. */
  readonly erasures?: Uint8Array | undefined
}

/** What the check of such a history found. */
export type ErasableVerification =
  | (Verification & {
      readonly ok: true
      /** Members whose values were erased. */
      readonly erased: number
      /** Of the end of the erasures; null without one. */
      readonly erasuresSignature: SignatureState | null
    })
  | Mismatch

/**
 * Checks a history against its seal, in the version of the chain that the signed seal has; `minChain` refuses an
 * earlier one. A value that is missing without an entry, and an entry whose value is there, is a mismatch, named by the
 * index of the event.
 */
export const verifyErasable = (
  sha256: Sha256,
  check: SignatureCheck,
  seal: Seal | DigestedSeal,
  history: ErasableHistory,
  minChain: 1 | 2 = 1
): ErasableVerification => {
  if ("chain" in seal) return verifyDigested(sha256, check, seal, history)
  if (minChain > 1) return mismatch("its seal is of version 1 of the chain")
  if (history.erasures !== undefined || history.salts !== undefined) {
    return mismatch("its seal is of version 1 of the chain, in which no text can be erased")
  }
  const walk = walkSealed(sha256, check, seal, history.heads)
  for (const event of history.events) {
    const found = walk.take(event)
    if (found !== undefined) return found
  }
  const found = walk.end()
  return found.ok ? { ...found, erased: 0, erasuresSignature: null } : found
}

const verifyDigested = (
  sha256: Sha256,
  check: SignatureCheck,
  seal: DigestedSeal,
  { erasures, events, heads, salts = [] }: ErasableHistory
): ErasableVerification => {
  const { runId } = seal
  const checked = erasures === undefined ? undefined : checkErasures(sha256, check, runId, erasures)
  if (checked?.ok === false) return checked
  const entries = byEvent(checked?.entries ?? [])
  const links: Links = {
    start: digestedStart(sha256, runId),
    next: (head, event, index) => {
      const own = salts[index - 1]
      if (own === undefined) return "its salts are missing"
      const digested = digestedAsServed(sha256, event, own, entries.get(index) ?? [])
      return Result.match(digested, {
        onFailure: (why) => why,
        onSuccess: (text) => digestedNext(sha256, head, text)
      })
    },
    reworded: "its text and its salts are not those that were sealed"
  }
  const walk = startWalk(links, runId, seal, heads)
  for (const event of events) {
    const found = walk.take(event)
    if (found !== undefined) return found
  }
  const walked = walk.end()
  if (!walked.ok) return walked
  if (salts.length > walked.events) return mismatch("there are more salts than events")
  const beyond = [...entries.keys()].find((index) => index > walked.events)
  if (beyond !== undefined) return { ok: false, index: beyond, why: "missing; an entry erases a member of it" }
  const signature = signatureOf(check, seal, signedDigestedSeal(seal), "seal")
  if (typeof signature !== "string") return signature
  const erasuresSignature = checked?.signature ?? null
  if (erasuresSignature !== null && typeof erasuresSignature !== "string") return erasuresSignature
  // Else a writer of the database without the key could erase any value.
  if (signature === "valid" && erasuresSignature === "unsigned") {
    return mismatch("its seal is signed, and its appendix of erasures is not")
  }
  return { ok: true, events: walked.events, signature, erased: checked?.entries.length ?? 0, erasuresSignature }
}

const byEvent = (entries: ReadonlyArray<ErasureEntry>): ReadonlyMap<number, ReadonlyArray<ErasureEntry>> => {
  const found = new Map<number, ReadonlyArray<ErasureEntry>>()
  for (const entry of entries) {
    if (entry.target === "event") found.set(entry.index, [...(found.get(entry.index) ?? []), entry])
  }
  return found
}

/** The digested text of an event as it is served; a failure is what of its erasures does not fit. */
const digestedAsServed = (
  sha256: Sha256,
  event: Uint8Array,
  salts: MemberSalts,
  entries: ReadonlyArray<ErasureEntry>
): Result.Result<Uint8Array, string> => {
  const { erased, text } = servedEvent(event)
  const digests = new Map(entries.map(({ digest, pointer }) => [pointer, digest]))
  const forged = erased.find(({ pointer }) => !digests.has(pointer))
  if (forged !== undefined) return Result.fail(`${forged.pointer} is erased without an entry`)
  const digested = digestedEvent(sha256, text, salts, digests)
  if (Result.isFailure(digested)) return digested
  const silent = entries.find((entry) => !erased.some((member) => isSame(member, entry)))
  if (silent !== undefined) return Result.fail(`what it says of the erasure of ${silent.pointer} is not the entry`)
  return erased.length === entries.length ? digested : Result.fail("it names an erasure twice")
}

const isSame = (member: ErasedMember, { at, pointer, reason }: ErasureEntry): boolean =>
  member.pointer === pointer && member.at === at && member.reason === reason

const mismatch = (why: string): Mismatch => ({ ok: false, why })
