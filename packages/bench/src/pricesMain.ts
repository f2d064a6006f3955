/*
 * What the price of a model call costs in the path of a frame: frames with the usage of a call are normalised, folded
 * and written as JSON, with the catalogue and without it, in turn in one process (docs/internals/scale.md).
 */
import { hash } from "node:crypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  emptyRunMetrics,
  emptyRunState,
  type ModelPrices,
  makeModelPrices,
  makeNormaliser,
  measure,
  noRedactor,
  project,
  type RawFrame,
  RunId,
  recordEvent,
  type Sha256,
  specifiedPrices
} from "@runplane/domain"
import { bundledCatalogue } from "@runplane/prices"
import { decodePayload } from "@runplane/runtime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { median } from "./Statistics.ts"

const FRAMES = 20_000
const ROUNDS = 15
const RUN = RunId.make("00000000-0000-4000-8000-000000000001")
const AT = "2026-11-01T10:00:00.000Z"
/** CPU of the whole way of an envelope into the log, microseconds (docs/internals/scale.md#the-log). */
const INGEST_MICROS = 130

/** Frames of an agent that reports the call of a model with cached tokens in each message. */
const frames: ReadonlyArray<RawFrame> = Array.from({ length: FRAMES }, (_, index) => ({
  kind: "stream-envelope",
  ambient: false,
  envelope: {
    macpVersion: "1.0",
    mode: "macp.mode.decision.v1",
    messageType: "Note",
    messageId: `m${index}`,
    sessionId: RUN,
    sender: "agent://a",
    timestampUnixMs: 1_790_000_000_000,
    payload: new TextEncoder().encode(
      JSON.stringify({
        reason: "the numbers of the last hour",
        llmCall: {
          model: index % 2 === 0 ? "gpt-4o-2024-08-06" : "claude-haiku-4-5",
          promptTokens: 1000 + (index % 500),
          completionTokens: 200,
          cachedTokens: 800,
          reasoningTokens: 50
        }
      })
    )
  }
}))

const sha256: Sha256 = (...parts) => hash("sha256", Buffer.concat(parts), "buffer")

/** CPU of one frame, microseconds. */
const cpuOfFrame = (prices: ModelPrices): number => {
  const normaliser = makeNormaliser({ decode: decodePayload, redactor: noRedactor, prices, sha256 })
  const known = new Set(["agent://a"])
  let state = emptyRunState(RUN)
  let metrics = emptyRunMetrics(RUN)
  let seq = 0
  let bytes = 0
  const started = process.cpuUsage()
  for (const frame of frames) {
    for (const draft of normaliser.normalise(known, frame, AT).drafts) {
      seq += 1
      const event = recordEvent(draft, { id: `e${seq}`, runId: RUN, seq, index: seq })
      state = project(state, event)
      metrics = measure(metrics, event)
      bytes += JSON.stringify(event.recorded).length
    }
  }
  const { system, user } = process.cpuUsage(started)
  if (bytes === 0 || state.timeline.totalEvents !== metrics.eventCount) throw new Error("the frames make no events")
  return (user + system) / FRAMES
}

/** CPU of one price alone, microseconds. */
const cpuOfPrice = (prices: ModelPrices): number => {
  const usage = { input: 1200, output: 200, cacheRead: 800, reasoning: 50 }
  const at = Date.parse(AT)
  let sum = 0
  const started = process.cpuUsage()
  for (let index = 0; index < FRAMES; index++) sum += prices.price({ model: "gpt-4o-2024-08-06", at, usage }).costUsd
  const { system, user } = process.cpuUsage(started)
  if (sum === 0) throw new Error("the calls cost nothing")
  return (user + system) / FRAMES
}

const main = Effect.gen(function* () {
  const forms = { off: specifiedPrices, on: makeModelPrices(undefined, bundledCatalogue) }
  const rounds: Array<{ readonly off: number; readonly on: number; readonly price: number }> = []
  // The first rounds compile the code.
  for (let round = -3; round < ROUNDS; round++) {
    const isFirst = round % 2 === 0
    const first = cpuOfFrame(isFirst ? forms.off : forms.on)
    const second = cpuOfFrame(isFirst ? forms.on : forms.off)
    const price = cpuOfPrice(forms.on)
    if (round >= 0) rounds.push(isFirst ? { off: first, on: second, price } : { off: second, on: first, price })
  }
  const off = median(rounds.map((round) => round.off))
  const on = median(rounds.map((round) => round.on))
  const added = median(rounds.map((round) => round.on - round.off))
  const price = median(rounds.map((round) => round.price))
  const share = (micros: number) => `${((micros / INGEST_MICROS) * 100).toFixed(2)} %`
  yield* Console.log(`a frame with usage, catalogue off   ${off.toFixed(2)} µs of CPU`)
  yield* Console.log(`a frame with usage, catalogue on    ${on.toFixed(2)} µs of CPU`)
  yield* Console.log(
    `on less off, median of the rounds   ${added.toFixed(2)} µs, ${share(added)} of an ingest of 130 µs`
  )
  yield* Console.log(`one price, warm                     ${price.toFixed(2)} µs, ${share(price)} of it`)
})

NodeRuntime.runMain(main)
