import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  checkMarks,
  type ExportedMarkEntry,
  type MarkContent,
  type MarkEntry,
  makeMarksHead,
  markContentSha256,
  marksNext,
  marksStart,
  type Sha256,
  type SignatureCheck,
  type Signer
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer: Signer = { keyId: "key-1", sign: (message) => sign(null, message, privateKey) }
const check: SignatureCheck = (keyId, message, signature) =>
  keyId === "key-1" ? verify(null, message, publicKey, signature) : undefined

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const AT = "2026-07-01T10:00:00.000Z"

interface Placed {
  readonly entry: MarkEntry
  readonly content?: MarkContent
}
const added = (id: string, value: number | boolean | string, isErased = false): Placed => {
  const content = { nonce: `nonce-${id}`, value, comment: "calm", judge: { name: "strict" } }
  const entry: MarkEntry = {
    action: "add",
    ...{ id, target: { kind: "run" }, name: "quality", source: "judge", author: "ann", createdAt: AT },
    contentSha256: markContentSha256(sha256, content)
  }
  return { entry, ...(!isErased && { content }) }
}
const deleted = (id: string): Placed => ({ entry: { action: "delete", id, deletedAt: AT, deletedBy: "ann" } })

/** The appendix as the service makes it. */
const appendixOf = (placed: ReadonlyArray<Placed>, by: Signer | undefined = signer) => {
  let head = marksStart(sha256, RUN)
  const entries = placed.map(({ content, entry }, index) => {
    const position = index + 1
    const previous = Buffer.from(head).toString("hex")
    head = marksNext(sha256, head, position, entry)
    const exported: ExportedMarkEntry = { position, previous, ...entry, ...(content !== undefined && { content }) }
    return exported
  })
  return { entries, head: makeMarksHead(RUN, entries.length, head, by) }
}
type Appendix = ReturnType<typeof appendixOf>

const found = (appendix: Appendix, runId = RUN) =>
  checkMarks(sha256, check, runId, Buffer.from(JSON.stringify(appendix)))
const whyOf = (appendix: Appendix, runId?: string) => {
  const result = found(appendix, runId)
  return result.ok ? "it fits" : result.why
}

const honest = appendixOf([added("1", 0.5), added("2", "fine", true), added("3", true), deleted("2"), added("4", 1)])
const changed = (position: number, change: (entry: ExportedMarkEntry) => ExportedMarkEntry): Appendix => ({
  ...honest,
  entries: honest.entries.map((entry) => (entry.position === position ? change(entry) : entry))
})
const without = (position: number): Appendix => ({
  ...honest,
  entries: honest.entries.filter((entry) => entry.position !== position)
})

describe("an appendix of marks", () => {
  it("fits as it is, signed or not", () => {
    assert.deepStrictEqual(found(honest), { ok: true, entries: 5, signature: "valid" })
    const unsigned = appendixOf([added("1", 0.5)], undefined)
    assert.deepStrictEqual(found({ ...unsigned, head: { ...unsigned.head, keyId: null, signature: null } }), {
      ...{ ok: true, entries: 1 },
      signature: "unsigned"
    })
  })

  it.each<[string, Appendix, string]>([
    [
      "a changed value",
      changed(1, (entry) => ({ ...entry, content: { nonce: "nonce-1", value: 0.6, comment: "calm" } })),
      "does not fit from position 1 on: its content is not the one that was added"
    ],
    [
      "a changed name",
      changed(3, (entry) => ({ ...entry, name: "tone" })),
      "does not fit from position 4 on: the entry before is not the one that it continues"
    ],
    [
      "a changed last entry",
      changed(5, (entry) => ({ ...entry, author: "bob" })),
      "does not fit from position 5 on: the entry is not the one of the signed end"
    ],
    ["a removed first entry", without(1), "does not fit from position 1 on: the entry has the position 2"],
    ["a removed middle entry", without(3), "does not fit from position 3 on: the entry has the position 4"],
    ["a removed tail", without(5), "does not fit from position 5 on: the signed end has 5 entries"],
    [
      "reordered entries",
      { ...honest, entries: honest.entries.toReversed() },
      "does not fit from position 1 on: the entry has the position 5"
    ],
    [
      "a content that is missing",
      changed(3, ({ content: _, ...entry }: ExportedMarkEntry & { content?: unknown }) => entry),
      "does not fit from position 3 on: its content is missing, and no entry deletes it"
    ],
    [
      "a deleted mark with its content",
      appendixOf([added("1", 1), deleted("1")]),
      "does not fit from position 2 on: the mark of position 1 is deleted, and has a content"
    ],
    [
      "a deletion of no mark",
      appendixOf([deleted("1")]),
      "does not fit from position 1 on: it deletes a mark that is not there"
    ],
    [
      "a mark that is added twice",
      appendixOf([added("1", 1), added("1", 1)]),
      "does not fit from position 2 on: the mark is that of position 1"
    ],
    [
      "a cut list with a made-up end",
      { ...without(5), head: { ...honest.head, entries: 4 } },
      "not the one of the signed end"
    ]
  ])("shows %s by its position", (_, appendix, why) => {
    assert.include(whyOf(appendix), why)
  })

  it("is of its run and of its key", () => {
    assert.strictEqual(whyOf(honest, "another"), `its appendix of marks is of the run ${RUN}`)
    const { signature } = appendixOf([added("1", 1)]).head
    assert.strictEqual(
      whyOf({ ...honest, head: { ...honest.head, signature } }),
      "the signature of the marks is not its key's"
    )
    assert.strictEqual(
      whyOf({ ...honest, head: { ...honest.head, keyId: "key-2" } }),
      "the key key-2 that signed the marks is not known"
    )
  })

  const value = pick<number | boolean | string>([0, -0.5, 1e21, true, false, "fine", 'caf\u00e9 "\u{1F600}"'])
  it.prop(
    "shows every changed byte of an entry",
    {
      values: Arbitrary.array(value),
      at: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))),
      by: pick([1, 2, 4])
    },
    ({ at, by, values }) => {
      const appendix = appendixOf(values.map((each, index) => added(String(index), each)))
      assert.isTrue(found(appendix).ok)
      const bytes = Buffer.from(JSON.stringify(appendix))
      const entriesEnd = bytes.indexOf('],"head":')
      const position = at % bytes.length
      if (position >= entriesEnd) return
      bytes[position] = (bytes[position] ?? 0) ^ by
      const result = checkMarks(sha256, check, RUN, bytes)
      assert.isFalse(result.ok && bytes.toString() !== JSON.stringify(appendix))
    }
  )
})
