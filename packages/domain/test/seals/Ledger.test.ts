import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  contentDigestOf,
  type LedgerEntry,
  ledgerHeadOf,
  ledgerStart,
  makeLedgerEntry,
  type Sha256,
  type SignatureCheck,
  walkLedger
} from "@runplane/domain"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer = { keyId: "key-1", sign: (message: Uint8Array) => sign(null, message, privateKey) }
const check: SignatureCheck = (keyId, message, signature) =>
  keyId === "key-1" ? verify(null, message, publicKey, signature) : undefined

const ledgerOf = (count: number, by?: typeof signer): ReadonlyArray<LedgerEntry> => {
  let head = ledgerStart(sha256)
  return Array.from({ length: count }, (_, position) => {
    const digest = contentDigestOf(sha256, { position })
    const draft = {
      kind: "audit",
      subject: `s${position}`,
      digest,
      vouched: true,
      at: "2026-07-01T10:00:00.000Z"
    } as const
    const entry = makeLedgerEntry(head, draft, by)
    head = ledgerHeadOf(sha256, entry)
    return entry
  })
}

const found = (entries: ReadonlyArray<LedgerEntry>) => {
  const walk = walkLedger(sha256, check)
  for (const entry of entries) {
    const state = walk.take(entry)
    if (typeof state !== "string") return `${state.index}: ${state.why}`
  }
  return walk.head().number
}

describe("the ledger", () => {
  const entries = ledgerOf(4, signer)
  const [one, two, three, four] = entries as [LedgerEntry, LedgerEntry, LedgerEntry, LedgerEntry]

  it("fits as it is", () => {
    assert.strictEqual(found(entries), 4)
    assert.strictEqual(found([]), 0)
    assert.strictEqual(walkLedger(sha256, check).take(one), "valid")
    assert.strictEqual(walkLedger(sha256, check).take(ledgerOf(1)[0] ?? one), "unsigned")
  })

  it("shows what is missing, moved or changed", () => {
    assert.strictEqual(found([one, three, four]), "2: missing; the next one is 3")
    assert.strictEqual(found([two]), "1: missing; the next one is 2")
    assert.strictEqual(found([one, { ...three, number: 2 }]), "2: it does not continue the entry before it")
    for (const change of [
      { digest: contentDigestOf(sha256, {}) },
      { subject: "other" },
      { vouched: false },
      { kind: "seal" },
      { at: "2027-07-01T10:00:00.000Z" }
    ] as const) {
      assert.strictEqual(found([one, { ...two, ...change }]), "2: the signature of the entry is not its key's")
      // Without a signature the next one shows it.
      const unsigned = { ...two, ...change, keyId: null, signature: null }
      assert.strictEqual(found([one, unsigned, three]), "3: it does not continue the entry before it")
    }
    assert.strictEqual(found([{ ...one, keyId: "key-2" }]), "1: the key key-2 that signed the entry is not known")
  })
})
