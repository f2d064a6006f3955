import { assert, describe, it } from "@effect/vitest"
import { type Attributes, makeRedactor, receivedTelemetry, type Telemetry } from "@runplane/domain"
import { summaryOf, type TraceFoldSummary } from "./Summary.ts"
import { runFold } from "./TraceFolds.ts"

/** A trace in the shape of an emitter of which no recording exists, made by hand from its names. */
export interface Shape {
  readonly spans: ReadonlyArray<Telemetry>
  readonly says: Partial<TraceFoldSummary>
}

export const usage = (
  input: number,
  output: number,
  parts: Partial<Record<"cacheRead" | "cacheWrite" | "reasoning", number>> = {}
) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...parts
})

export const call = (name: string, tokens: ReturnType<typeof usage> | undefined, model = "gpt-4o") => ({
  agent: name,
  model,
  ok: true,
  usage: tokens
})

export const langGraph = (namespace: string, more: Attributes = {}): Attributes => ({
  metadata: JSON.stringify({ langgraph_checkpoint_ns: namespace, thread_id: "t1", ...more })
})

const DROPPING = {
  redactor: makeRedactor("").redactor,
  content: "drop",
  keepUser: true,
  sha256: (text: string) => text
} as const

/** Texts that users and agents say in the shapes. */
const SAID = /\bship\?|\bhold\b/

/** Compares what the fold of each shape says. */
export const describeShapes = (subject: string, shapes: Readonly<Record<string, Shape>>) =>
  describe(subject, () => {
    it.each(Object.entries(shapes))("%s", (_, { says, spans }) => {
      const found: Readonly<Record<string, unknown>> = { ...summaryOf(runFold([{ at: 1_000, telemetry: spans }])) }
      const compared = Object.fromEntries(Object.keys(says).map((key) => [key, found[key]]))
      assert.deepStrictEqual(compared, { ...says })
    })

    it.each(Object.entries(shapes))(
      "have no texts, and the same tokens, when content is dropped: %s",
      (_, { spans }) => {
        const dropped = spans.map((each) => receivedTelemetry(DROPPING, each))
        const { finalAnswer, totals } = summaryOf(runFold([{ at: 1_000, telemetry: dropped }]))
        assert.isUndefined(finalAnswer)
        assert.notMatch(JSON.stringify(dropped), SAID)
        assert.deepStrictEqual(totals, summaryOf(runFold([{ at: 1_000, telemetry: spans }])).totals)
      }
    )
  })
