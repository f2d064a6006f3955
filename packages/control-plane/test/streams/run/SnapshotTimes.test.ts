import { assert, describe, it } from "@effect/vitest"
import { CLIENTS_A_SNAPSHOT, snapshotTimeAfter } from "../../../src/streams/SnapshotTurns.ts"

const INTERVAL_MS = 100
const START = 1_764_000_000_050

/** The times of the snapshots of each client, within ten seconds. */
const timesOf = (audience: number) =>
  Array.from({ length: audience }, (_, position) => {
    const times: Array<number> = []
    let at = snapshotTimeAfter(START, INTERVAL_MS, { audience, position })
    while (at <= START + 10_000) {
      times.push(at)
      at = snapshotTimeAfter(at, INTERVAL_MS, { audience, position })
    }
    return times
  })

// docs/reference/streams.md#stream
describe("the times of snapshots", () => {
  const cases = [
    [1, 1],
    [100, 1],
    [101, 2],
    [500, 5],
    [5_000, 10]
  ] as const
  for (const [audience, turns] of cases) {
    it(`are every ${turns * INTERVAL_MS} ms for each of ${audience}, and in turns`, () => {
      const all = timesOf(audience)
      for (const times of all) {
        assert.isAtMost((times[0] ?? 0) - START, turns * INTERVAL_MS)
        for (const [index, at] of times.entries()) {
          assert.strictEqual(at % INTERVAL_MS, 0)
          if (index > 0) assert.strictEqual(at - (times[index - 1] ?? 0), turns * INTERVAL_MS)
        }
      }
      const atOnce = Map.groupBy(all.flat(), (at) => at)
      for (const [, clients] of atOnce) {
        assert.isAtMost(clients.length, Math.max(CLIENTS_A_SNAPSHOT, Math.ceil(audience / turns)))
      }
    })
  }

  it("is the next interval for a client that is left alone", () => {
    assert.strictEqual(snapshotTimeAfter(START, INTERVAL_MS, { audience: 0, position: 7 }), START + 50)
  })
})
