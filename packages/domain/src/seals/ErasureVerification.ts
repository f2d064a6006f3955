import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Sha256 } from "../values/Sha256.ts"
import { ErasureAppendix, type ErasureEntry, erasuresNext, erasuresStart, signedErasuresHead } from "./ErasureChain.ts"
import type { SignatureCheck } from "./Seal.ts"
import { type Mismatch, type SignatureState, signatureOf, textOf } from "./Verification.ts"

/** The erasures of a run, whose chain and signed end fit. */
export interface CheckedErasures {
  readonly ok: true
  readonly entries: ReadonlyArray<ErasureEntry>
  /** A mismatch only where the key of the signature is not known: a change that is found without it counts more. */
  readonly signature: SignatureState | Mismatch
}

/**
 * Checks the chain of the erasures of a run: positions, links, and the signed end. A fault is named by its position.
 * Whether the values are missing is compared with the events and frames themselves.
 */
export const checkErasures = (
  sha256: Sha256,
  check: SignatureCheck,
  runId: string,
  appendix: Uint8Array
): CheckedErasures | Mismatch => {
  const decoded = decode(textOf(appendix))
  if (Result.isFailure(decoded)) return mismatch("cannot be read")
  const { entries: exported, head: signed } = decoded.success
  if (signed.runId !== runId) return mismatch(`is of the run ${signed.runId}`)
  let head = erasuresStart(sha256, runId)
  const entries: Array<ErasureEntry> = []
  const positions = new Map<string, number>()
  for (const [at, { position: stated, previous, ...entry }] of exported.entries()) {
    const position = at + 1
    if (stated !== position) return mismatchAt(position, `the entry has the position ${stated}`)
    if (previous !== Hex.encode(head)) return mismatchAt(position, "the entry before is not the one that it continues")
    const { index, pointer, target } = entry
    const member = `${target} ${index} ${pointer}`
    const known = positions.get(member)
    if (known !== undefined) return mismatchAt(position, `the entry of position ${known} erases ${member} already`)
    positions.set(member, position)
    head = erasuresNext(sha256, head, position, entry)
    entries.push(entry)
  }
  if (signed.entries !== entries.length) {
    return mismatchAt(Math.min(signed.entries, entries.length) + 1, `the signed end has ${signed.entries} entries`)
  }
  if (signed.head !== Hex.encode(head)) return mismatchAt(entries.length, "the entry is not the one of the signed end")
  const { keyId, signature } = signed
  const algorithm = keyId === null ? "sha256" : "sha256-ed25519"
  const state = signatureOf(check, { algorithm, keyId, signature }, signedErasuresHead(signed), "erasures")
  const isFault = typeof state !== "string" && state.unknownKey === undefined
  return isFault ? state : { ok: true, entries, signature: state }
}

const mismatch = (why: string): Mismatch => ({ ok: false, why: `its appendix of erasures ${why}` })
const mismatchAt = (position: number, why: string): Mismatch =>
  mismatch(`does not fit from position ${position} on: ${why}`)

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(ErasureAppendix), { onExcessProperty: "error" })
