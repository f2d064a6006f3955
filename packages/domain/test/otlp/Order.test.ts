import { assert, describe, it } from "@effect/vitest"
import type { Telemetry } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { goldenFolders, readGolden } from "./support/Golden.ts"
import { agent, chat, openInference, span, tool } from "./support/Spans.ts"
import { isCounted, summaryOf } from "./support/Summary.ts"
import { IDLE_MS, OPTIONS, type Request, runFold, SETTLE_MS, type TraceFoldResult } from "./support/TraceFolds.ts"

/** What no order of requests may change. */
const outcomeOf = (result: TraceFoldResult) => {
  const { conversationId, finalAnswer, handoffs, invocations, name, participants, status, errorCode, totals, tools } =
    summaryOf(result)
  const calls = result.events
    .filter(isCounted)
    .map(({ data, recorded }) => [
      recorded.data["spanId"],
      data.sender,
      data.model,
      data.promptTokens,
      data.completionTokens,
      recorded.data["ok"]
    ])
  return {
    name,
    status,
    errorCode,
    finalAnswer,
    conversationId,
    participants,
    totals,
    invocations: invocations.toSorted(),
    handoffs: handoffs.toSorted(),
    tools: tools.map((each) => JSON.stringify(each)).toSorted(),
    calls: calls.map((each) => JSON.stringify(each)).toSorted(),
    cost: result.state.llm.totals.estimatedCostUsd
  }
}

/** Telemetry in one request. */
const together = (telemetry: ReadonlyArray<Telemetry>): ReadonlyArray<Request> => [{ at: 10_000, telemetry }]

/** Order, sizes, pauses and repetitions of requests, from numbers. All arrive within the settle time. */
const scattered = (
  telemetry: ReadonlyArray<Telemetry>,
  {
    order,
    repeats,
    sizes
  }: { order: ReadonlyArray<number>; repeats: ReadonlyArray<number>; sizes: ReadonlyArray<number> }
): ReadonlyArray<Request> => {
  const rank = (at: number) => order[at % order.length]! + (order[(at * 7 + 3) % order.length]! % 97)
  const permuted = telemetry.map((each, at) => [rank(at), each] as const).toSorted(([a], [b]) => a - b)
  const requests: Array<ReadonlyArray<Telemetry>> = []
  for (let at = 0, nth = 0; at < permuted.length; nth++) {
    const size = 1 + sizes[nth % sizes.length]!
    requests.push(permuted.slice(at, at + size).map(([, each]) => each))
    at += size
  }
  const repeated = requests.flatMap((request, at) =>
    repeats[at % repeats.length] === 0 ? [request, request] : [request]
  )
  const pause = Math.floor((SETTLE_MS - 1) / (repeated.length + 1))
  return repeated.map((request, at) => ({ at: 10_000 + at * pause, telemetry: request }))
}

const below = (limit: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limit - 1 }))
const list = (item: ReturnType<typeof below>, most: number) =>
  Schema.Array(item).check(Schema.isMinLength(1), Schema.isMaxLength(most))

const scattering = Arbitrary.schema(
  Schema.Struct({ order: list(below(1_000_000), 64), sizes: list(below(20), 16), repeats: list(below(3), 8) })
)

const NAMES = ["lead", "security", "sre"]

/** A trace of up to 40 spans of any kind, in any tree. */
const generated = Arbitrary.map(
  Arbitrary.schema(
    Schema.Array(
      Schema.Struct({
        kind: below(10),
        parent: below(40),
        from: below(1_000),
        name: below(3),
        isError: below(6),
        response: below(7)
      })
    ).check(Schema.isMinLength(1), Schema.isMaxLength(40))
  ),
  (drawn): ReadonlyArray<Telemetry> =>
    drawn.map(({ from, isError, kind, name, parent, response }, at) => {
      const who = NAMES[name]!
      const attributes = [
        agent(who),
        chat(10 + at, 1 + at, response < 3 ? { "gen_ai.response.id": `r${response}` } : {}),
        chat(10 + at, 1 + at, { "gen_ai.agent.name": who }),
        { "gen_ai.operation.name": "chat" },
        tool(`tool${name}`),
        tool("transfer_to_agent"),
        tool(`transfer_to_${who}`),
        openInference("CHAIN"),
        { "executor.id": who },
        tool("Delegate work to coworker", { "gen_ai.tool.call.arguments": `{"coworker":"${who}"}` })
      ][kind]!
      const options = {
        ...(at > 0 && { parent: `s${parent % at}` }),
        ...(isError === 0 && { status: "error" as const })
      }
      return span(`s${at}`, [from, from + 50 + at], attributes, options)
    })
)

describe("any order of requests", () => {
  it.prop(
    "makes the same run of a generated trace, also in slices and when the process is killed before any step",
    { telemetry: generated, drawn: scattering, kill: Arbitrary.schema(below(6)) },
    ({ drawn, kill, telemetry }) => {
      const expected = outcomeOf(runFold(together(telemetry)))
      assert.deepStrictEqual(outcomeOf(runFold(scattered(telemetry, drawn))), expected)
      const killed = runFold(scattered(telemetry, drawn), undefined, (step) => step % (kill + 1) === 0)
      assert.deepStrictEqual(outcomeOf(killed), expected)
      const sliced = runFold(scattered(telemetry, drawn), { ...OPTIONS, maxDecisions: kill + 1 }, (step) => step === 9)
      assert.deepStrictEqual(outcomeOf(sliced), expected)
    },
    { arbitrary: { runs: 300 }, timeout: 60_000 }
  )

  it.prop(
    "counts no call twice when requests come later than the settle time",
    { telemetry: generated, drawn: scattering },
    ({ drawn, telemetry }) => {
      const slow = scattered(telemetry, drawn).map(({ telemetry: each }, at) => ({
        at: 10_000 + at * (at % 3 === 0 ? 2 * SETTLE_MS : 700),
        telemetry: each
      }))
      const { events, state } = runFold(slow)
      const counted = events.filter(isCounted)
      assert.strictEqual(new Set(counted.map(({ recorded }) => recorded.data["spanId"])).size, counted.length)
      const responses = counted.flatMap(({ data: _, recorded }) => {
        const payload = recorded.data["decodedPayload"]
        return typeof payload === "object" && payload !== null && "responseId" in payload ? [payload.responseId] : []
      })
      assert.strictEqual(new Set(responses).size, responses.length)
      assert.strictEqual(state.llm.totals.callCount, counted.length)
    },
    { arbitrary: { runs: 200 }, timeout: 60_000 }
  )

  it("consumes all telemetry in the end", () => {
    const telemetry = [span("a", [0, 1], agent("a"), { parent: "b" }), span("b", [0, 1], chat(1, 1), { parent: "a" })]
    const { end, fold } = runFold(together(telemetry))
    assert.strictEqual(end?.endedBecause, "idle")
    assert.isAtLeast(IDLE_MS, SETTLE_MS)
    assert.strictEqual(fold.waitingLogs, 0)
  })

  describe.skipIf(goldenFolders.length === 0)("of recorded exports", () => {
    for (const name of goldenFolders) {
      it.prop(
        `makes the same runs of ${name}`,
        { drawn: scattering, kill: Arbitrary.schema(below(4)) },
        ({ drawn, kill }) => {
          const { expected, requests } = readGolden(name)
          for (const { traceIds } of expected.runs) {
            const telemetry = requests.flat().filter(({ traceId }) => traceIds.includes(traceId))
            const whole = outcomeOf(runFold(together(telemetry)))
            const scatteredRun = runFold(scattered(telemetry, drawn), undefined, (step) => step % (kill + 2) === 0)
            assert.deepStrictEqual(outcomeOf(scatteredRun), whole)
          }
        },
        { arbitrary: { runs: 5 }, timeout: 60_000 }
      )
    }
  })
})
