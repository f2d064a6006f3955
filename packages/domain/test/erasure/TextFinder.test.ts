import { assert, describe, it } from "@effect/vitest"
import { copyFinder, foldText, textFinder } from "@runplane/domain"
import * as Schema from "effect/Schema"

const PERSON = "Jürgen Weiß"
const inBase64 = (text: string) => Buffer.from(text).toString("base64")
const inBase64Url = (text: string) => Buffer.from(text).toString("base64url")
const escaped = (text: string) =>
  JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

describe("a searched text", () => {
  const isIn = textFinder(PERSON)

  it("is found without regard to case and to the form of its letters", () => {
    for (const text of ["Jürgen Weiß", "refund JÜRGEN WEISS now", "Ju\u0308rgen Weiss", "jürgen weiß."]) {
      assert.isTrue(isIn(text), text)
    }
    for (const text of ["", "Jürgen", "Jurgen Weiss", "Jürgen  Weiß"]) assert.isFalse(isIn(text), text)
  })

  it("is found behind escapes of JSON, in base64 of both alphabets, and in forms inside of one another", () => {
    const payload = JSON.stringify({ customer: PERSON, note: "late" })
    for (const text of [
      escaped(PERSON),
      JSON.stringify(escaped(PERSON)),
      inBase64(payload),
      inBase64Url(`\u0012\u0004${PERSON}\u001a`),
      `data:application/json;base64,${inBase64(payload)}`,
      `https://files/${inBase64Url(payload)}`,
      inBase64(JSON.stringify({ inner: inBase64(escaped(PERSON)) })),
      JSON.stringify({ body: inBase64(payload) })
    ]) {
      assert.isTrue(isIn(text), text)
    }
    assert.isFalse(isIn(inBase64(JSON.stringify({ customer: "Ann", note: "late" }))))
  })

  it.prop(
    "is found in base64 behind any number of bytes",
    { before: Schema.String, after: Schema.String, word: Schema.String.check(Schema.isMinLength(2)) },
    ({ after, before, word }) => {
      const clean = word.toWellFormed()
      if (foldText(clean) === "") return
      const text = `${before.toWellFormed()}${clean}${after.toWellFormed()}`
      // A letter before or behind may join a letter of the word.
      if (!foldText(text).includes(foldText(clean))) return
      assert.isTrue(textFinder(clean)(inBase64(text)), `${clean} in ${text}`)
      assert.isTrue(textFinder(clean)(inBase64Url(text)), `${clean} in ${text}`)
      assert.isTrue(textFinder(clean)(JSON.stringify({ text })), `${clean} in ${text}`)
    }
  )
})

describe("a copy of an erased value", () => {
  it("is a text that contains it, or a shortened one", () => {
    const isCopy = copyFinder(["the customer lives in Elm Street 5", "no"])
    for (const text of [
      "no",
      "run failed: The customer lives in Elm Street 5",
      inBase64("the customer lives in Elm Street 5"),
      "the customer lives in…",
      "the customer lives..."
    ]) {
      assert.isTrue(isCopy(text), text)
    }
    for (const text of ["", "note", "no receipt", "the customer", "the customer pays"]) {
      assert.isFalse(isCopy(text), text)
    }
    assert.isFalse(copyFinder([])(""))
    assert.isFalse(copyFinder([""])("any"))
  })
})
