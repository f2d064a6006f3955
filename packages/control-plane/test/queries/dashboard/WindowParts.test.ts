import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { BUCKET_MS, type Bucket, partsOf, type Span } from "../../../src/queries/dashboard/WindowParts.ts"

const now = Date.parse("2026-07-31T12:34:56.789Z")
const at = (text: string) => `2026-07-${text}Z`
const shown = (from: string, to: string | undefined, bucket: Bucket) => {
  const { edges, whole } = partsOf({ from, to }, bucket, now)
  const parts = [...edges.map((edge) => ({ ...edge, unit: "edge" })), ...whole]
  return parts
    .toSorted((left, right) => (left.from < right.from ? -1 : 1))
    .map(({ from, to, unit }) => `${unit} ${from} ${to ?? "open"}`)
}

describe("the parts of a window", () => {
  it("are the largest buckets with smaller ones at their sides", () => {
    assert.deepStrictEqual(shown(at("29T22:58:30.000"), at("31T01:02:03.000"), "day"), [
      `edge ${at("29T22:58:30.000")} ${at("29T22:59:00.000")}`,
      `minute ${at("29T22:59:00.000")} ${at("29T23:00:00.000")}`,
      `hour ${at("29T23:00:00.000")} ${at("30T00:00:00.000")}`,
      `day ${at("30T00:00:00.000")} ${at("31T00:00:00.000")}`,
      `hour ${at("31T00:00:00.000")} ${at("31T01:00:00.000")}`,
      `minute ${at("31T01:00:00.000")} ${at("31T01:02:00.000")}`,
      `edge ${at("31T01:02:00.000")} ${at("31T01:02:03.000")}`
    ])
  })

  it("are minutes from now on where the window is open", () => {
    assert.deepStrictEqual(shown(at("31T10:00:00.000"), undefined, "hour"), [
      `hour ${at("31T10:00:00.000")} ${at("31T12:00:00.000")}`,
      `minute ${at("31T12:00:00.000")} ${at("31T12:34:00.000")}`,
      `minute ${at("31T12:34:00.000")} open`
    ])
    assert.deepStrictEqual(shown(at("31T12:34:56.000"), undefined, "hour"), [
      `edge ${at("31T12:34:56.000")} ${at("31T12:35:00.000")}`,
      `minute ${at("31T12:35:00.000")} open`
    ])
  })

  it("are an edge where the window holds no whole minute", () => {
    assert.deepStrictEqual(shown(at("31T10:00:01.000"), at("31T10:00:59.000"), "minute"), [
      `edge ${at("31T10:00:01.000")} ${at("31T10:00:59.000")}`
    ])
    assert.deepStrictEqual(shown(at("31T10:00:01.000"), at("31T10:01:59.000"), "day"), [
      `edge ${at("31T10:00:01.000")} ${at("31T10:01:59.000")}`
    ])
  })

  it("end where the years have more digits than the database reads", () => {
    assert.deepStrictEqual(shown("9999-12-31T23:59:59.999Z", undefined, "hour"), [
      "edge 9999-12-31T23:59:59.999Z infinity",
      "minute infinity open"
    ])
    assert.deepStrictEqual(shown("9999-12-31T23:58:00.000Z", "9999-12-31T23:59:59.999Z", "hour"), [
      "minute 9999-12-31T23:58:00.000Z 9999-12-31T23:59:00.000Z",
      "edge 9999-12-31T23:59:00.000Z 9999-12-31T23:59:59.999Z"
    ])
  })

  const times = Schema.Int.check(Schema.isBetween({ minimum: now - 3 * BUCKET_MS.day, maximum: now + BUCKET_MS.hour }))
  const buckets = Schema.Literals(["minute", "hour", "day"])
  it.prop(
    "touch, do not overlap, and begin and end with the window",
    [Arbitrary.schema(times), Arbitrary.schema(times), Arbitrary.schema(buckets), Arbitrary.schema(Schema.Boolean)],
    ([one, other, bucket, isOpen]) => {
      const from = Math.min(one, other)
      const span: Span = {
        from: new Date(from).toISOString(),
        to: isOpen ? undefined : new Date(Math.max(one, other) + 1).toISOString()
      }
      const { edges, whole } = partsOf(span, bucket, now)
      for (const { from, to, unit } of whole) {
        for (const end of [from, to]) if (end !== undefined) assert.strictEqual(Date.parse(end) % BUCKET_MS[unit], 0)
      }
      const parts = [...edges, ...whole].toSorted((left, right) => (left.from < right.from ? -1 : 1))
      let end: string | undefined = span.from
      for (const part of parts) {
        assert.strictEqual(part.from, end)
        end = part.to
      }
      assert.strictEqual(end, span.to)
    }
  )
})
