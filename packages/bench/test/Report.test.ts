import { assert, describe, it } from "@effect/vitest"
import type { Figure, Outcome } from "../src/Figures.ts"
import { number, renderTable, summarise } from "../src/Report.ts"

const outcome = (...figures: ReadonlyArray<Figure>): Outcome => ({ scenario: "load", line: "", figures })
const rate = (value: number): Figure => ({ name: "rate", value, unit: "/s", better: "more", aim: 100 })
const delay = (value: number): Figure => ({ name: "delay", value, unit: "ms", better: "less", aim: 15 })

describe("a summary", () => {
  it("has the best and the median of all repetitions", () => {
    const [rates, delays] = summarise([
      outcome(rate(90), delay(20)),
      outcome(rate(120), delay(10)),
      outcome(rate(110), delay(12))
    ])
    assert.strictEqual(rates?.name, "load: rate")
    assert.strictEqual(rates?.best, 120)
    assert.strictEqual(rates?.median, 110)
    assert.strictEqual(delays?.best, 10)
    assert.strictEqual(delays?.median, 12)
  })

  it("reaches its aim by the median, not by the best", () => {
    const [rates, delays] = summarise([
      outcome(rate(90), delay(20)),
      outcome(rate(120), delay(10)),
      outcome(rate(99), delay(15))
    ])
    assert.isFalse(rates?.aim?.reached)
    assert.isTrue(delays?.aim?.reached)
  })
})

describe("the table", () => {
  it("shows which aims were reached", () => {
    const table = renderTable(
      summarise([outcome(rate(90), delay(10), { name: "peak", value: 1, unit: "MiB", better: "less" })])
    )
    const [, first, second, third] = table.split("\n")
    assert.match(first ?? "", /^load: rate +90 \/s +90 \/s +>= 100 +MISS$/)
    assert.match(second ?? "", /^load: delay +10 ms +10 ms +<= 15 +pass$/)
    assert.match(third ?? "", /^load: peak +1 MiB +1 MiB$/)
  })
})

describe("numbers", () => {
  it.each([
    [0.4567, "0.46"],
    [14.26, "14.3"],
    [4123.4, "4,123"],
    [0, "0"]
  ])("%d is written %s", (value, text) => {
    assert.strictEqual(number(value), text)
  })
})
