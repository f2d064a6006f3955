import { assert, describe, it } from "@effect/vitest"
import { type EncodedFile, makeEventEncoder, openDayFiles, type SizedEvent } from "@runplane/archive"
import { dayOf, eventRow } from "@runplane/domain"
import * as Effect from "effect/Effect"

const NOON = Date.parse("2026-11-26T12:00:00.000Z")
const HOUR_MS = 3_600_000

/** Events of two days, with texts of any kind. */
const events = (count: number): ReadonlyArray<SizedEvent> =>
  Array.from({ length: count }, (_, at) => {
    const text = at % 5 === 0 ? `{"é${at}` : JSON.stringify({ data: { sender: `agent-${at % 3}` }, at })
    return {
      ...{
        seq: at + 1,
        runId: `run-${at % 7}`,
        index: at,
        ts: NOON + Math.round(at * HOUR_MS * (24 / count)),
        type: "message.sent"
      },
      ...{ text, salts: at % 3 === 0 ? null : `salt-${at}`, bytes: Buffer.byteLength(text) }
    }
  })

/** As they are encoded row by row. */
const expected = (all: ReadonlyArray<SizedEvent>) => {
  const files = openDayFiles("events")
  for (const event of all) files.add(dayOf(event.ts), eventRow("main", event), event.bytes)
  return files.finish()
}

const sorted = (files: ReadonlyArray<EncodedFile>) =>
  files
    .map(({ bytes, day, rows }) => ({ day, rows, text: Buffer.from(bytes).toString("base64") }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))

describe("the encoder of events", () => {
  for (const [name, count, page] of [
    ["at once", 900, 300],
    ["in its thread", 6_000, 2_500],
    ["in its thread after a part that waited", 2_100, 700]
  ] as const) {
    it.live(`makes the same bytes ${name}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const encoder = yield* makeEventEncoder
          const all = events(count)
          for (const _ of [1, 2]) {
            // A range that is not finished leaves nothing in the next one.
            yield* encoder.open("main").add(all)
            const files = encoder.open("main")
            for (let at = 0; at < count; at += page) yield* files.add(all.slice(at, at + page))
            const made = yield* files.finish
            assert.lengthOf(made, 2)
            assert.deepStrictEqual(sorted(made), sorted(expected(all)))
          }
        })
      )
    )
  }

  it.live("fails with the reason, and works again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const encoder = yield* makeEventEncoder
        const broken = events(2_000).map((event) => ({ ...event, seq: 0.5 }))
        const fault = yield* Effect.flip(
          Effect.gen(function* () {
            const files = encoder.open("main")
            yield* files.add(broken)
            return yield* files.finish
          })
        )
        assert.deepInclude(fault, { kind: "failed" })
        assert.match(fault.message, /^the encoder: .*0\.5/)
        const files = encoder.open("main")
        const all = events(2_000)
        yield* files.add(all)
        assert.deepStrictEqual(sorted(yield* files.finish), sorted(expected(all)))
      })
    )
  )
})
