import { assert, describe, it } from "@effect/vitest"
import {
  erasableInEvent,
  erasableInFrame,
  foundInEvent,
  foundInFrame,
  frameText,
  isFoundIn,
  scrubbedJson,
  textFinder
} from "@runplane/domain"
import { bytesOf, erase } from "../seals/erasures.ts"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { says } from "../support/deliberations.ts"
import { draft, number, textOf } from "../support/events.ts"

const AT = "/data/decodedPayload"
const isAnn = textFinder("Ann Lee")
const first = (...drafts: Parameters<typeof number>[0]) => number(drafts).map(textOf)[0] ?? ""
const base64 = (text: string) => Buffer.from(text).toString("base64")

describe("a text in an event", () => {
  it("is found in erasable members and in kept ones", () => {
    const event = first(
      says("b", "Objection", {
        severity: "high",
        reason: "ask ANN LEE",
        option: "call Ann Lee",
        customers: [{ name: "Ann Lee" }],
        body: base64('{"customer":"Ann Lee"}'),
        note: "late"
      })
    )
    const { erasable, kept } = foundInEvent(isAnn, bytesOf(event))
    assert.deepStrictEqual(erasable.toSorted(), [`${AT}/body`, `${AT}/customers`, `${AT}/reason`])
    assert.deepStrictEqual(kept, [`${AT}/option`])
  })

  it("is found in numbers and in names of members", () => {
    const event = first(says("b", "Objection", { severity: "high", phone: 4930123, map: { "Ann Lee": 1 } }))
    assert.deepStrictEqual(foundInEvent(textFinder("4930123"), bytesOf(event)).erasable, [`${AT}/phone`])
    assert.deepStrictEqual(foundInEvent(isAnn, bytesOf(event)).erasable, [`${AT}/map`])
  })

  it("is found as kept in what cannot be erased: names of members, subjects, ids", () => {
    const event = first(draft("run.started", { "Ann Lee": { reason: "x" }, actor: "Ann Lee" }))
    assert.deepStrictEqual(foundInEvent(isAnn, bytesOf(event)), {
      erasable: [],
      kept: ["/data/Ann Lee", "/data/actor"]
    })
  })

  it.prop("is gone from the erasable members after their erasure", { drafts: arbitraryDrafts }, ({ drafts }) => {
    for (const event of number(drafts)) {
      const text = textOf(event)
      const { erasable } = foundInEvent(() => true, bytesOf(text))
      const all = (erasableInEvent(bytesOf(text)) ?? []).map(({ pointer }) => pointer)
      assert.isTrue(erasable.every((pointer) => all.includes(pointer)))
      const erased = JSON.parse(erase(text, erasable)).data
      const isLeft = all.filter((pointer) => !erasable.includes(pointer))
      // Only values without a text and a number were not found.
      for (const pointer of isLeft) {
        const value = pointer
          .split("/")
          .slice(2)
          .reduce((inner, name) => inner?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], erased)
        assert.isFalse(
          isFoundIn(() => true, value ?? null),
          pointer
        )
      }
    }
  })
})

describe("a text in a raw frame", () => {
  it("is found in the bytes of an envelope", () => {
    const bytes = base64(`\u0012\u0007${"Ann Lee"}\u001a\u0001`)
    const payload = JSON.stringify({ kind: "stream-envelope", envelope: { messageType: "Vote", payloadBase64: bytes } })
    const frame = frameText(
      { seq: 1, ts: "2026-09-01T08:00:00.000Z", kind: "stream-envelope", sourceName: "r" },
      payload
    )
    assert.deepStrictEqual(foundInFrame(isAnn, bytesOf(frame)), {
      erasable: ["/payload/envelope/payloadBase64"],
      kept: []
    })
    assert.lengthOf(erasableInFrame(bytesOf(frame)) ?? [], 1)
  })
})

describe("a document that no seal covers", () => {
  const keep = new Set(["runId", "status"])
  it("loses texts, numbers and members, and keeps what identifies it", () => {
    const text = JSON.stringify({ runId: "Ann Lee", note: "for Ann Lee", list: ["Ann Lee", "Bo"], "Ann Lee": 1, n: 5 })
    assert.deepStrictEqual(scrubbedJson(isAnn, text, keep), {
      text: JSON.stringify({ runId: "Ann Lee", note: "", list: ["", "Bo"], n: 5 }),
      removed: 3,
      kept: 1
    })
    assert.strictEqual(scrubbedJson(textFinder("55501"), '{"n": 55501}', keep).text, '{"n":null}')
  })

  it("keeps each byte where nothing is found", () => {
    const text = '{ "note" : "Bo" }'
    assert.deepStrictEqual(scrubbedJson(isAnn, text, keep), { text, removed: 0, kept: 0 })
  })

  it("is emptied where it is not JSON", () => {
    assert.deepStrictEqual(scrubbedJson(isAnn, "Ann Lee said", keep), { text: '""', removed: 1, kept: 0 })
  })
})
