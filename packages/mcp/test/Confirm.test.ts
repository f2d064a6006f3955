import { createHash, createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { type Binding, canonicalArgs, issueToken, TOKEN_MS, verifyToken } from "../src/Confirm.ts"

const macBy = (key: string) => (text: string) => createHmac("sha256", key).update(text).digest("base64url")
const hash = (text: string) => createHash("sha256").update(text).digest("hex")
const checks = (now: number, key = "k") => ({ mac: macBy(key), equal: (a: string, b: string) => a === b, now })

const binding: Binding = { tool: "run_cancel", args: canonicalArgs({ runId: "r" }, hash), key: "ops" }
const seen = { status: "running", index: 7 }
const token = issueToken(macBy("k"), { ...binding, status: "running", index: 7, nonce: "n", expiresAt: TOKEN_MS })

// docs/reference/mcp.md#confirmation
describe("a confirmation token", () => {
  it("is valid for five minutes, for its call, its key and the run as it was", () => {
    const verdict = (
      now: number,
      over: Partial<Binding> = {},
      current: typeof seen & { readonly facts?: string } = seen,
      key = "k"
    ) => verifyToken(token, checks(now, key), { ...binding, ...over }, current)
    assert.deepStrictEqual(verdict(0), { _tag: "Valid", nonce: "n", expiresAt: TOKEN_MS })
    assert.strictEqual(verdict(TOKEN_MS - 1)._tag, "Valid")
    assert.strictEqual(verdict(TOKEN_MS)._tag, "Invalid")
    assert.strictEqual(verdict(0, { key: "other" })._tag, "Invalid")
    assert.strictEqual(verdict(0, { tool: "run_suspend" })._tag, "Invalid")
    assert.strictEqual(verdict(0, { args: canonicalArgs({ runId: "other" }, hash) })._tag, "Invalid")
    assert.strictEqual(verdict(0, {}, seen, "another secret")._tag, "Invalid")
    assert.deepStrictEqual(verdict(0, {}, { ...seen, index: 8 }), {
      _tag: "Stale",
      status: "running",
      index: 7,
      hasOtherFacts: false
    })
    assert.strictEqual(verdict(0, {}, { ...seen, facts: "others" })._tag, "Stale")
    assert.strictEqual(verdict(0, {}, { ...seen, status: "completed" })._tag, "Stale")
  })

  it.prop("is not forged by any text", { text: Schema.String, cut: Schema.Int }, ({ cut, text }) => {
    const begun = token.slice(0, Math.abs(cut) % token.length)
    for (const forged of [text, `${text}.${text}`, begun, `${token}${text}x`, `${token}.${text}`, `${token}.`]) {
      assert.strictEqual(verifyToken(forged, checks(0), binding, seen)._tag, "Invalid")
    }
  })

  it.prop(
    "is bound to arguments whatever the order of their keys",
    { args: Schema.Record(Schema.String, Schema.Json) },
    ({ args }) => {
      const reversed = Object.fromEntries(Object.entries(args).toReversed())
      const own = (input: object) => canonicalArgs(input, hash)
      assert.strictEqual(own({ ...args, confirmToken: "t" }), own({ ...reversed, confirmToken: "u" }))
      assert.notStrictEqual(own({ ...args, reason: "r" }), own({ ...args, reason: "another" }))
    }
  )
})
