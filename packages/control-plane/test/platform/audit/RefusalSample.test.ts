import { assert, describe, it } from "@effect/vitest"
import {
  MAX_SAMPLED_CLIENTS,
  makeRefusalSample,
  SAMPLE_WINDOW_MS,
  SAMPLED_IN_ALL,
  SAMPLED_PER_CLIENT
} from "../../../src/platform/audit/RefusalSample.ts"

describe("the sample of refusals", () => {
  it("records the first of a client in a window, and says in the next window how many it left out", () => {
    const sample = makeRefusalSample()
    const recorded = (now: number) => {
      const all = Array.from({ length: SAMPLED_PER_CLIENT + 5 }, () => sample("a", now))
      return all.flatMap((one) => (one.isRecorded ? [one.unrecorded] : []))
    }
    const none = Array.from({ length: SAMPLED_PER_CLIENT - 1 }, () => 0)
    assert.deepStrictEqual(recorded(0), [0, ...none])
    assert.deepStrictEqual(recorded(SAMPLE_WINDOW_MS - 1), [])
    assert.deepStrictEqual(recorded(SAMPLE_WINDOW_MS), [5 + SAMPLED_PER_CLIENT + 5, ...none])
  })

  it("has one limit for all clients, and no client uses up the share of another before that", () => {
    const sample = makeRefusalSample()
    for (let again = 0; again < 1_000; again++) sample("flood", 0)
    assert.deepStrictEqual(sample("quiet", 0), { isRecorded: true, unrecorded: 0 })
    const all = Array.from({ length: 1_000 }, (_, number) => sample(`client ${number}`, 1))
    assert.lengthOf(
      all.filter(({ isRecorded }) => isRecorded),
      SAMPLED_IN_ALL - SAMPLED_PER_CLIENT - 1
    )
  })

  it("counts a bounded number of clients, and forgets those of earlier windows", () => {
    const sample = makeRefusalSample()
    for (let number = 0; number < 2 * MAX_SAMPLED_CLIENTS; number++) sample(`client ${number}`, 0)
    assert.deepStrictEqual(sample("another", SAMPLE_WINDOW_MS), { isRecorded: true, unrecorded: 0 })
  })
})
