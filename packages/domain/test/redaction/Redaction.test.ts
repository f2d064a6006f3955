import { assert, describe, it } from "@effect/vitest"
import { type JsonObject, makeRedactor, REDACTED, REDACTION_WINDOW_CHARS } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { base64 } from "../support/frames.ts"

const redactorOf = (patterns: string) => makeRedactor(patterns).redactor

describe("Redaction", () => {
  it.each(["", " , ,", "  "])("is the identity without patterns (%j)", (patterns) => {
    const { invalid, redactor } = makeRedactor(patterns)
    const payload = { a: ["secret"] }
    assert.isFalse(redactor.enabled)
    assert.deepStrictEqual(invalid, [])
    assert.strictEqual(redactor.payload(payload), payload)
  })

  it("replaces every match of every pattern in every string, however deep", () => {
    const payload = { a: "sk-1 and sk-22", b: [{ c: "mail me: x@y.z" }, 7, null, true], d: "fine" }
    assert.deepStrictEqual(redactorOf("sk-\\d+, \\w+@\\w+\\.\\w+").payload(payload), {
      a: `${REDACTED} and ${REDACTED}`,
      b: [{ c: `mail me: ${REDACTED}` }, 7, null, true],
      d: "fine"
    })
  })

  it("gives back the same object when nothing matches", () => {
    const payload = { a: "x", b: { c: ["y"] } }
    assert.strictEqual(redactorOf("secret").payload(payload), payload)
  })

  it("reports an invalid pattern and applies the others", () => {
    const { invalid, redactor } = makeRedactor("(unclosed,secret,[oops,foo[0-9]+")
    assert.deepStrictEqual(invalid, ["(unclosed", "[oops"])
    assert.strictEqual(redactor.text("a secret foo1 bar"), `a ${REDACTED} ${REDACTED} bar`)
  })

  it.each([
    ["\\d{3,4},token", "12 1234 token", `12 ${REDACTED} ${REDACTED}`],
    ["\\d{3,}", "12345", REDACTED],
    ["x[,;]y", "x,y x;y", `${REDACTED} ${REDACTED}`],
    ["(?:a,b)c", "a,bc", REDACTED]
  ])("keeps a comma that belongs to a pattern together with it: %s", (patterns, text, expected) => {
    const { invalid, redactor } = makeRedactor(patterns)
    assert.deepStrictEqual(invalid, [])
    assert.strictEqual(redactor.text(text), expected)
  })

  it("does nothing for matches of the empty text", () => {
    assert.strictEqual(redactorOf("x*").text("abxx"), `ab${REDACTED}`)
  })

  it("redacts inside members that hold bytes, and leaves them base64", () => {
    const { data, extensions } = redactorOf("sk-\\d+").payload({
      data: base64({ key: "sk-1" }),
      extensions: { "x.y": base64("sk-2") }
    })
    assert.strictEqual(data, base64({ key: REDACTED }))
    assert.deepStrictEqual(extensions, { "x.y": base64(REDACTED) })
  })

  it("leaves well-formed text when a pattern takes half of a surrogate pair", () => {
    assert.isTrue(redactorOf("\\uD83D").text("\u{1F600}").isWellFormed())
  })

  it("finds matches across the borders of the windows of a long text", () => {
    const secret = `BEGIN${"k".repeat(3000)}END`
    for (const lead of [0, 20_000, REDACTION_WINDOW_CHARS - 5, REDACTION_WINDOW_CHARS, 3 * REDACTION_WINDOW_CHARS]) {
      const text = `${".".repeat(lead)}${secret}${".".repeat(40_000)}`
      assert.strictEqual(redactorOf("BEGINk+END").text(text), `${".".repeat(lead)}${REDACTED}${".".repeat(40_000)}`)
    }
  })

  const Piece = Schema.Literals(["sk-1", "sk-99", "plain", " ", "sk-", "-", "7", "é", "\u{1F600}"])
  const text = Arbitrary.map(Arbitrary.array(Arbitrary.schema(Piece)), (pieces) => pieces.join(""))
  it.prop("leaves no match in any string", { texts: Arbitrary.array(text), one: text }, ({ one, texts }) => {
    const payload: JsonObject = { one, nested: { texts, data: base64(one) } }
    const redacted = redactorOf("sk-\\d+").payload(payload)
    const inner = JSON.stringify(redacted, (key, value: unknown) =>
      key === "data" && typeof value === "string" ? Buffer.from(value, "base64").toString() : value
    )
    assert.notMatch(inner, /sk-\d/)
  })
})
