import { generateKeyPairSync, sign, verify } from "node:crypto"
import {
  digestedEvent,
  digestedNext,
  digestedStart,
  type ErasureEntry,
  erasedEvent,
  erasuresNext,
  erasuresStart,
  eventErasure,
  type HistoryProof,
  type MemberSalts,
  makeErasuresHead,
  makeSeal,
  type Seal,
  type SignatureCheck,
  type Signer,
  servedEvent,
  type Verification,
  walkSealed
} from "@runplane/domain"
import * as Result from "effect/Result"
import { commits, eventsOf, opened, says, votes } from "../support/deliberations.ts"
import { sha256 } from "../support/digests.ts"
import { RUN_ID, textOf } from "../support/events.ts"
import { bytesOf, ERASED, read } from "./erasures.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
export const signer: Signer = { keyId: "key-1", sign: (message) => sign(null, message, privateKey) }
export const check: SignatureCheck = (keyId, message, signature) =>
  keyId === "key-1" ? verify(null, message, publicKey, signature) : undefined

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
export const seedOf = (index: number) =>
  Buffer.from(sha256(bytesOf(`seed ${index}`)))
    .subarray(0, 16)
    .toString("base64url")

export const AT = "/data/decodedPayload"
export const texts = eventsOf(
  opened(),
  says("a", "Proposal", { option: "refund", rationale: "Ann waited", customer: { name: "Ann" } }),
  says("b", "Objection", { severity: "low", reason: "no receipt", isVip: true, isNew: true }),
  votes("a", "APPROVE"),
  says("b", "Vote", { vote: "APPROVE", reason: "no receipt" }),
  commits(true)
).map(textOf)
const indexOf = (needle: string) => texts.findIndex((text) => text.includes(needle)) + 1
export const [PROPOSAL, OBJECTION, VOTE] = [
  indexOf('"Proposal"'),
  indexOf('"Objection"'),
  indexOf('"vote":"APPROVE","reason"')
]

/** A run as the service would keep and export it. */
export interface Kept {
  readonly events: ReadonlyArray<string>
  readonly salts: ReadonlyArray<MemberSalts>
  readonly heads: ReadonlyArray<string>
  readonly seal: Seal
  readonly entries: ReadonlyArray<ErasureEntry>
}

const sealedAt = "2026-07-01T10:00:00.000Z"
export const draftOf = (events: number, head: Uint8Array) => ({
  ...{ runId: RUN_ID, events, head, sealedAt, late: false, provenAfter: 0, frames: null },
  chain: 2 as const
})

/** A history that is checked at once. */
export const verifyErasable = (
  seal: Seal,
  {
    events,
    salts,
    ...proof
  }: HistoryProof & {
    readonly events: ReadonlyArray<string>
    readonly salts?: ReadonlyArray<MemberSalts>
  }
): Verification => {
  const walk = walkSealed(sha256, check, seal, proof)
  for (const [at, event] of events.entries()) {
    const found = walk.take(bytesOf(event), salts?.[at])
    if (found !== undefined) return found
  }
  return walk.end()
}

export const begun = (by: Signer | undefined = signer): Kept => {
  let head = digestedStart(sha256, RUN_ID)
  const salts = texts.map((_, at) => seedOf(at + 1))
  const heads = texts.map((text, at) => {
    head = digestedNext(sha256, head, Result.getOrThrow(digestedEvent(sha256, bytesOf(text), salts[at] ?? "")))
    return hex(head)
  })
  return { events: texts, salts, heads, seal: makeSeal(draftOf(texts.length, head), by), entries: [] }
}

export const replaced = <A>(list: ReadonlyArray<A>, index: number, item: A) =>
  list.map((each, at) => (at + 1 === index ? item : each))

export const eraseMember = (kept: Kept, index: number, pointer: string): Kept => {
  const { erased, text } = servedEvent(bytesOf(kept.events[index - 1] ?? ""))
  const erasure = eventErasure(sha256, text, kept.salts[index - 1] ?? "", pointer)
  const served = erasedEvent(text, [...erased, { pointer, ...ERASED }])
  if (erasure === undefined || served === undefined) throw new Error(`not erasable: ${pointer}`)
  return {
    ...kept,
    events: replaced(kept.events, index, read(served)),
    salts: replaced(kept.salts, index, erasure.salts),
    entries: [...kept.entries, { target: "event", index, pointer, digest: erasure.digest, by: "key:1", ...ERASED }]
  }
}

export const appendixOf = (entries: ReadonlyArray<ErasureEntry>, by: Signer | undefined = signer, runId = RUN_ID) => {
  let head = erasuresStart(sha256, runId)
  const exported = entries.map((entry, at) => {
    const previous = hex(head)
    head = erasuresNext(sha256, head, at + 1, entry)
    return { position: at + 1, previous, ...entry }
  })
  return { entries: exported, head: makeErasuresHead(runId, entries.length, head, by) }
}
export type Appendix = ReturnType<typeof appendixOf>

/** An entry of a run; it must be there. */
export const entryOf = (kept: Kept, at: number): ErasureEntry => {
  const entry = kept.entries[at]
  if (entry === undefined) throw new Error(`no entry ${at}`)
  return entry
}

/** A run before its erasures, and after three of them. */
export const whole = begun()
export const honest = eraseMember(
  eraseMember(eraseMember(whole, PROPOSAL, `${AT}/rationale`), OBJECTION, `${AT}/isVip`),
  PROPOSAL,
  `${AT}/customer`
)
