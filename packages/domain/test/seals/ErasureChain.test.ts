import { assert, describe, it } from "@effect/vitest"
import { canonicalJson, checkErasures, erasuresNext, erasuresStart } from "@runplane/domain"
import { sha256 } from "../support/digests.ts"
import { RUN_ID } from "../support/events.ts"
import { AT, appendixOf, check, entryOf, hex, honest, PROPOSAL } from "./erasedRuns.ts"
import { bytesOf } from "./erasures.ts"

describe("the chain of erasures", () => {
  const appendix = appendixOf(honest.entries)
  const reason = (changed: object, runId = RUN_ID) => {
    const result = checkErasures(sha256, check, runId, bytesOf(JSON.stringify(changed)))
    return result.ok ? "it fits" : result.why
  }
  const entriesAs = (entries: ReadonlyArray<object>) => reason({ ...appendix, entries })
  const [one = {}, two = {}, three = {}] = appendix.entries
  const at = (position: number, why: string) =>
    `its appendix of erasures does not fit from position ${position} on: ${why}`

  it("fits as it is", () => {
    assert.strictEqual(reason(appendix), "it fits")
  })

  it.each<readonly [string, string, ReadonlyArray<object>]>([
    ["a removed entry", at(2, "the entry has the position 3"), [one, three]],
    ["a removed end", at(3, "the signed end has 3 entries"), [one, two]],
    ["reordered entries", at(1, "the entry has the position 2"), [two, one, three]],
    ["a repeated entry", at(4, "the entry has the position 1"), [one, two, three, one]],
    [
      "a changed entry",
      at(2, "the entry before is not the one that it continues"),
      [{ ...one, by: "key:2" }, two, three]
    ],
    [
      "a changed last entry",
      at(3, "the entry is not the one of the signed end"),
      [one, two, { ...three, reason: "no" }]
    ],
    ["another member of an entry", "its appendix of erasures cannot be read", [{ ...one, value: "Ann" }, two, three]]
  ])("shows %s", (_, why, entries) => {
    assert.strictEqual(entriesAs(entries), why)
  })

  it("shows two erasures of one member, and a chain of another run or key", () => {
    const twice = appendixOf([entryOf(honest, 0), entryOf(honest, 0)])
    const member = `event ${PROPOSAL} ${AT}/rationale`
    assert.strictEqual(reason(twice), at(2, `the entry of position 1 erases ${member} already`))
    assert.strictEqual(reason(appendix, "another"), `its appendix of erasures is of the run ${RUN_ID}`)
    const { signature } = appendixOf([entryOf(honest, 0)]).head
    const head = { ...appendix.head, signature }
    assert.strictEqual(reason({ ...appendix, head }), "the signature of the erasures is not its key's")
  })

  it("begins with its own text, and its end is signed as canonical JSON", () => {
    assert.strictEqual(hex(erasuresStart(sha256, "r")), hex(sha256(bytesOf("runplane-erasures-v1\nr"))))
    const next = erasuresNext(sha256, erasuresStart(sha256, "r"), 1, entryOf(honest, 0))
    const entry = bytesOf(canonicalJson({ position: 1, ...entryOf(honest, 0) }))
    assert.strictEqual(hex(next), hex(sha256(erasuresStart(sha256, "r"), entry)))
    const { signature, ...signed } = appendix.head
    const message = bytesOf(canonicalJson({ kind: "runplane-erasures-v1", ...signed }))
    assert.isTrue(check("key-1", message, Buffer.from(signature ?? "", "hex")))
  })
})
