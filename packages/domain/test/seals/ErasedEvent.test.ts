import { assert, describe, it } from "@effect/vitest"
import { erasableInEvent, erasedEvent, servedEvent } from "@runplane/domain"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { says } from "../support/deliberations.ts"
import { draft, number, textOf } from "../support/events.ts"
import { bytesOf, ERASED, erasableIn, erase, read } from "./erasures.ts"

const AT = "/data/decodedPayload"
const textOfFirst = (...drafts: Parameters<typeof number>[0]) => number(drafts).map(textOf)[0] ?? ""
const objection = textOfFirst(
  says("b", "Objection", { severity: "high", reason: "Ann", reasons: ["Ann"], age: 61, isAdult: true, note: "" })
)
const payloadOf = (text: string) => JSON.parse(text).data.decodedPayload

describe("an erased event as it is served", () => {
  it("has an empty text or null in the position of a value, and names the erasure beside data", () => {
    const served = erase(objection)
    assert.deepStrictEqual(payloadOf(served), {
      ...{ severity: "high", reason: "", reasons: null, age: null, isAdult: null, note: "" }
    })
    const { erased, ...event } = JSON.parse(served)
    assert.deepStrictEqual(
      erased,
      ["reason", "reasons", "age", "isAdult", "note"].map((name) => ({ pointer: `${AT}/${name}`, ...ERASED }))
    )
    assert.deepStrictEqual(Object.keys(event), Object.keys(JSON.parse(objection)))
    assert.notInclude(served, "Ann")
  })

  it("keeps every byte of what was not erased, and the order of the erasures", () => {
    const served = erase(objection, [`${AT}/age`, `${AT}/reason`])
    const members = [`${AT}/age`, `${AT}/reason`].map((pointer) => ({ pointer, ...ERASED }))
    const expected = objection.replace('"reason":"Ann"', '"reason":""').replace('"age":61', '"age":null')
    assert.strictEqual(served, `${expected.slice(0, -1)},"erased":${JSON.stringify(members)}}`)
    assert.strictEqual(erase(objection, []), objection)
  })

  it("is not made for a member that is kept, or that the event does not have", () => {
    for (const pointer of [`${AT}/severity`, `${AT}/absent`, AT, "/data/sender", "/id", ""]) {
      assert.isUndefined(erasedEvent(bytesOf(objection), [{ pointer, ...ERASED }]), pointer)
    }
  })

  it("is taken apart again, also after a further erasure", () => {
    const once = servedEvent(bytesOf(erase(objection, [`${AT}/age`])))
    const twice = erasedEvent(once.text, [...once.erased, { pointer: `${AT}/reason`, ...ERASED }])
    assert.strictEqual(twice && read(twice), erase(objection, [`${AT}/age`, `${AT}/reason`]))
    assert.deepStrictEqual(servedEvent(bytesOf(objection)), { text: bytesOf(objection), erased: [] })
  })

  it("is not what an agent writes into its payload", () => {
    const said = textOfFirst(draft("tool.called", { erased: true, decodedPayload: { erased: [{ pointer: "/data" }] } }))
    assert.deepStrictEqual(servedEvent(bytesOf(said)).erased, [])
    assert.strictEqual(read(servedEvent(bytesOf(said)).text), said)
  })

  it("keeps a member erased of another form or position in the text, where the chain finds it", () => {
    const member = JSON.stringify([{ pointer: `${AT}/age`, ...ERASED }])
    for (const changed of [
      `${objection.slice(0, -1)},"erased":true}`,
      `${objection.slice(0, -1)},"erased":[]}`,
      `${objection.slice(0, -1)},"erased":[{"pointer":"/data"}]}`,
      `${objection.slice(0, -1)},"erased":[{"pointer":"/data","at":"x","reason":"y","more":1}]}`,
      `${objection.slice(0, -1)},"erased":${member},"more":1}`,
      objection.replace("{", `{"erased":${member},`)
    ]) {
      assert.deepStrictEqual(servedEvent(bytesOf(changed)), { text: bytesOf(changed), erased: [] }, changed)
    }
  })

  it.prop("is taken apart into its text and its erasures, whatever the event", { drafts: arbitraryDrafts }, (given) => {
    for (const event of number(given.drafts)) {
      const text = textOf(event)
      const pointers = erasableIn(text)
      const served = bytesOf(erase(text))
      const { erased, text: left } = servedEvent(served)
      assert.deepStrictEqual(
        erased,
        pointers.map((pointer) => ({ pointer, ...ERASED }))
      )
      // What was erased is still erasable, by the same pointers: the digests of the chain have their positions.
      assert.deepStrictEqual(
        erasableInEvent(left)?.map(({ pointer }) => pointer),
        pointers
      )
      assert.doesNotThrow(() => JSON.parse(read(left)))
    }
  })
})
