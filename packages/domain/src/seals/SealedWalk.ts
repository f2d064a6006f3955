import * as Result from "effect/Result"
import type { ErasedMember } from "../events/ErasedMember.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { chainNext, chainStart } from "./Chain.ts"
import { digestedEvent, digestedNext, digestedStart } from "./DigestedText.ts"
import { servedEvent } from "./ErasedEvent.ts"
import type { ErasureEntry } from "./ErasureChain.ts"
import { type CheckedErasures, checkErasures } from "./ErasureVerification.ts"
import type { MemberSalts } from "./MemberSalts.ts"
import { type ChainVersion, chainVersionOf, type Seal, type SignatureCheck, signedBytes } from "./Seal.ts"
import {
  type Heads,
  type Links,
  type Mismatch,
  type SignatureState,
  signatureOf,
  startWalk,
  type Walk
} from "./Verification.ts"

/** What the check of a history against its seal found. */
export type Verification =
  | {
      readonly ok: true
      readonly events: number
      readonly signature: SignatureState
      /** Entries of erasures. */
      readonly erased: number
    }
  | Mismatch

/** What proves a history, beside its salts. */
export interface HistoryProof {
  readonly heads?: Heads | undefined
  /** The appendix of erasures as its bytes; undefined for a run of which nothing was erased. */
  readonly erasures?: Uint8Array | undefined
  /** Refuses an earlier version of the chain. */
  readonly minChain?: ChainVersion | undefined
}

/** Why a version of the chain is refused. */
export const earlierChain = (chain: ChainVersion, minChain: ChainVersion = 1): string | undefined =>
  chain < minChain ? `its chain is of version ${chain}, and version ${minChain} is required` : undefined

/** Why version 1 of the chain has salts or erasures. */
export const UNERASABLE = "its chain is of version 1, in which no text can be erased"

/**
 * Checks a history against its seal (docs/reference/seal.md#chain), in the version of the chain that the signed seal
 * has. A value that is missing without an entry, and an entry whose value is there, is a mismatch, named by the index
 * of the event.
 */
export const walkSealed = (
  sha256: Sha256,
  check: SignatureCheck,
  seal: Seal,
  { erasures, heads, minChain }: HistoryProof = {}
): Walk<Verification & { readonly ok: true }> => {
  const { runId } = seal
  const chain = chainVersionOf(seal)
  const refused = earlierChain(chain, minChain) ?? (chain === 1 && erasures !== undefined ? UNERASABLE : undefined)
  if (refused !== undefined) return refusing(mismatch(refused))
  const checked = erasures === undefined ? undefined : checkErasures(sha256, check, runId, erasures)
  if (checked?.ok === false) return refusing(checked)
  const entries = checked?.entries ?? []
  const walk = startWalk(linksOf(sha256, runId, chain, entries), runId, seal, heads)
  return {
    take: walk.take,
    end: () => {
      const walked = walk.end()
      if (!walked.ok) return walked
      const signature = signatureOf(check, seal, signedBytes(seal), "seal")
      if (typeof signature !== "string") return signature
      const unsigned = erasuresFault(checked, signature, "seal")
      return unsigned ?? { ok: true, events: walked.events, signature, erased: entries.length }
    }
  }
}

const refusing = (found: Mismatch): Walk<never> => ({ take: () => found, end: () => found })

/**
 * Why the signature of the erasures proves less than that of `what`: else a writer of the database without the key
 * could erase any value.
 */
export const erasuresFault = (
  checked: CheckedErasures | undefined,
  signature: SignatureState,
  what: string
): Mismatch | undefined => {
  const found = checked?.signature
  if (found !== undefined && typeof found !== "string") return found
  return signature === "valid" && found === "unsigned"
    ? mismatch(`its ${what} is signed, and its appendix of erasures is not`)
    : undefined
}

/** How the chain of the events of a run begins and continues, in a version of it. */
export const linksOf = (
  sha256: Sha256,
  runId: string,
  chain: ChainVersion,
  erasures: ReadonlyArray<ErasureEntry>
): Links => (chain === 1 ? textLinks(sha256, runId) : digestedLinks(sha256, runId, erasures))

const textLinks = (sha256: Sha256, runId: string): Links => ({
  start: chainStart(sha256, runId),
  next: (head, event, _, salts) => (salts === undefined ? chainNext(sha256, head, event) : UNERASABLE),
  reworded: "its text is not the one that was sealed"
})

const digestedLinks = (sha256: Sha256, runId: string, erasures: ReadonlyArray<ErasureEntry>): Links => {
  const entries = byEvent(erasures)
  return {
    start: digestedStart(sha256, runId),
    next: (head, event, index, salts) => {
      if (salts === undefined) return "its salts are missing"
      return Result.match(digestedAsServed(sha256, event, salts, entries.get(index) ?? []), {
        onFailure: (why) => why,
        onSuccess: (text) => digestedNext(sha256, head, text)
      })
    },
    reworded: "its text and its salts are not those that were sealed"
  }
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
