import { assert, describe, it } from "@effect/vitest"
import { kappaOf, type RatedPair } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

/** The pairs of a confusion: rows are the values of the first rater. */
const pairsOf = (table: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<RatedPair> =>
  table.flatMap((row, left) =>
    row.flatMap((count, right) => (count === 0 ? [] : [{ left: `v${left}`, right: `v${right}`, count }]))
  )

const tables = Arbitrary.array(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))), {
    minLength: 4,
    maxLength: 4
  }),
  { minLength: 4, maxLength: 4 }
)

describe("Cohen's kappa", () => {
  it.each([
    // Wikipedia, "Cohen's kappa": the simple example and the two of the same percentage of agreement.
    [
      "20 5 / 10 15",
      [
        [20, 5],
        [10, 15]
      ],
      0.4
    ],
    [
      "45 15 / 25 15",
      [
        [45, 15],
        [25, 15]
      ],
      0.1304
    ],
    [
      "25 35 / 5 35",
      [
        [25, 35],
        [5, 35]
      ],
      0.2593
    ],
    // Cohen 1968, Weighted kappa, table 1: 200 diagnoses.
    [
      "88 14 18 / 10 40 10 / 2 6 12",
      [
        [88, 14, 18],
        [10, 40, 10],
        [2, 6, 12]
      ],
      0.492
    ]
  ] as const)("of %s is that of the published table", (_, table, kappa) => {
    assert.approximately(kappaOf(pairsOf(table)).kappa?.value ?? Number.NaN, kappa, 5e-4)
  })

  it.each([
    // Fleiss, Cohen and Everitt 1969, Large sample standard errors of kappa and weighted kappa: variance 0.002885.
    [
      "106 10 4 / 22 28 10 / 2 12 6",
      [
        [106, 10, 4],
        [22, 28, 10],
        [2, 12, 6]
      ],
      0.429,
      0.0537
    ],
    // SAS, FREQ procedure, as statsmodels compares with it (test_inter_rater.py).
    [
      "0 4 1 / 0 8 0 / 0 1 5",
      [
        [0, 4, 1],
        [0, 8, 0],
        [0, 1, 5]
      ],
      0.4842,
      0.138
    ],
    // R, vcd: Kappa(SexualFun), the data of Hout, Duncan and Sobel 1987.
    [
      "7 7 2 3 / ...",
      [
        [7, 7, 2, 3],
        [2, 8, 3, 7],
        [1, 5, 4, 9],
        [2, 8, 9, 14]
      ],
      0.1293,
      0.0686
    ]
  ] as const)("of %s has the published standard error", (_, table, kappa, standardError) => {
    const found = kappaOf(pairsOf(table)).kappa ?? assert.fail("no kappa")
    assert.approximately(found.value, kappa, 5e-4)
    assert.approximately(found.standardError, standardError, 5e-5)
  })

  it("has the published interval", () => {
    // SAS, FREQ procedure, as above: 0.2137 to 0.7547.
    const { kappa } = kappaOf(
      pairsOf([
        [0, 4, 1],
        [0, 8, 0],
        [0, 1, 5]
      ])
    )
    assert.approximately(kappa?.low ?? Number.NaN, 0.2137, 5e-5)
    assert.approximately(kappa?.high ?? Number.NaN, 0.7547, 5e-5)
  })

  it("has no value without targets, and where both always give the same value", () => {
    assert.deepStrictEqual(kappaOf([]), { n: 0, agreed: 0, kappa: undefined })
    assert.deepStrictEqual(kappaOf([{ left: "a", right: "a", count: 7 }]), { n: 7, agreed: 7, kappa: undefined })
  })

  it("is 0 where one rater always gives one value and the other does not", () => {
    assert.strictEqual(
      kappaOf(
        pairsOf([
          [5, 0],
          [3, 0]
        ])
      ).kappa?.value,
      0
    )
  })

  it.prop("is the same for both raters in turn, in any order of values and pairs", [tables], ([table]) => {
    const pairs = pairsOf(table)
    const { agreed, kappa, n } = kappaOf(pairs)
    const other = kappaOf(
      pairs.toReversed().map(({ count, left, right }) => ({ left: `${right} `, right: `${left} `, count }))
    )
    assert.strictEqual(other.n, n)
    assert.strictEqual(other.agreed, agreed)
    assert.strictEqual(other.kappa === undefined, kappa === undefined)
    for (const part of ["value", "standardError", "low", "high"] as const)
      assert.approximately(other.kappa?.[part] ?? 0, kappa?.[part] ?? 0, 1e-9)
  })

  it.prop("is at most 1, 1 for equal values alone, and inside its interval", [tables], ([table]) => {
    const { kappa } = kappaOf(pairsOf(table))
    if (kappa !== undefined) {
      assert.isAtMost(kappa.value, 1)
      assert.isAtLeast(kappa.value, -1)
      assert.isAtMost(kappa.low, kappa.value)
      assert.isAtLeast(kappa.high, kappa.value)
    }
    const equal = kappaOf(pairsOf(table.map((row, at) => row.map((count, on) => (at === on ? count + 1 : 0)))))
    assert.approximately(equal.kappa?.value ?? 0, 1, 1e-12)
    assert.approximately(equal.kappa?.standardError ?? 1, 0, 1e-6)
  })
})
