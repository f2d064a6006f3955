import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { countOf, meanOf, percentilesOf, sorted } from "../../../src/queries/dashboard/Percentiles.ts"

const FRACTIONS = [0, 0.25, 0.5, 0.95, 0.99, 1]

/** The definition, over one list. */
const plainly = (values: ReadonlyArray<number>, fraction: number): number => {
  const all = values.toSorted((left, right) => left - right)
  const position = fraction * (all.length - 1)
  const low = all[Math.floor(position)] ?? Number.NaN
  return low + ((all[Math.ceil(position)] ?? low) - low) * (position - Math.floor(position))
}

const part = (values: ReadonlyArray<number>) => sorted(Float64Array.from(values).sort())

/** Splits a list into parts of these lengths, and a last one. */
const split = (values: ReadonlyArray<number>, lengths: ReadonlyArray<number>) => {
  const parts: Array<ReadonlyArray<number>> = []
  let others = values
  for (const length of lengths) {
    parts.push(others.slice(0, length))
    others = others.slice(length)
  }
  return [...parts, others].map(part)
}

const numbers = (most: number, least = 1) =>
  Arbitrary.schema(
    Schema.Array(
      Schema.Union([
        Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 3 })),
        Schema.Int.check(Schema.isBetween({ minimum: -5_000_000, maximum: 9_000_000_000 }))
      ])
    ).check(Schema.isMinLength(least), Schema.isMaxLength(most))
  )
const lengths = Arbitrary.schema(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))).check(Schema.isMaxLength(5))
)

const check = (kept: ReadonlyArray<number>, gone: ReadonlyArray<number>, lengths: ReadonlyArray<number>) => {
  const parts = { added: split([...gone, ...kept], lengths), removed: gone.length === 0 ? [] : split(gone, lengths) }
  assert.strictEqual(countOf(parts), kept.length)
  assert.closeTo(meanOf(parts), kept.reduce((sum, value) => sum + value, 0) / kept.length, 1e-3)
  for (const [index, found] of percentilesOf(parts, FRACTIONS).entries()) {
    assert.closeTo(found, plainly(kept, FRACTIONS[index] ?? 0), 1e-3)
  }
}

describe("percentiles of parts", () => {
  it.prop("are those of all numbers in one list", [numbers(40), numbers(20, 0), lengths], ([kept, gone, cuts]) =>
    check(kept, gone, cuts)
  )

  const many = Array.from({ length: 9_000 }, (_, index) => (index * 7_919) % 10_007)
  it.prop("are the same in large parts", [numbers(200), numbers(200)], ([some, gone]) =>
    check([...many, ...some], gone, [3_000, 4_000, 0])
  )
})
