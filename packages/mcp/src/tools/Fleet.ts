import { type Run, walkRun } from "@runplane/api"
import { doubtsOf, scenarioOfRecord, sumUsd, walkSealed } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { checkBy, sha256 } from "../SealCheck.ts"
import { defined, type Item } from "../Shape.ts"
import { type CallContext, page, tool } from "../ToolSpec.ts"
import { json } from "./Decisions.ts"
import { q, runId } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

/** Runs that a summary reads at most: pages of the list, the latest first. */
const MAX_RUNS = 1_000
const PAGE = 200
/** Runs whose model calls a summary reads at most, the dearest first. */
const MAX_RUNS_WITH_CALLS = 25

interface Sum {
  readonly runs: number
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
}

const none: Sum = { runs: 0, calls: 0, tokens: 0, costUsd: 0 }

const addTo = (sums: Map<string, Sum>, key: string, part: Partial<Sum>) => {
  const { calls, costUsd, runs, tokens } = sums.get(key) ?? none
  sums.set(key, {
    runs: runs + (part.runs ?? 0),
    calls: calls + (part.calls ?? 0),
    tokens: tokens + (part.tokens ?? 0),
    costUsd: sumUsd([costUsd, part.costUsd ?? 0])
  })
}

const matching = Effect.fnUntraced(function* (
  { backend: { plane } }: CallContext,
  q: string | undefined,
  sortBy: "createdAt" | "cost",
  most: number
) {
  const runs: Array<Run> = []
  let cursor: string | undefined
  let total = 0
  do {
    const found = yield* plane.api.runs.list({
      query: {
        limit: Math.min(PAGE, most - runs.length),
        offset: 0,
        sortBy,
        sortOrder: "desc",
        includeArchived: true,
        ...(q !== undefined && { q }),
        ...(cursor !== undefined && { cursor })
      }
    })
    runs.push(...found.data)
    total = Math.max(total, found.total)
    cursor = found.nextCursor
  } while (cursor !== undefined && runs.length < most)
  return { runs, total }
})

const CALLS_PAGE = 1_000

/** The model calls of a run, the first thousand. */
const callsOf = ({ backend: { plane } }: CallContext, run: Run) =>
  Effect.map(
    plane.api.crossRunEvents.list({
      query: { runId: run.id, type: ["llm.call.completed"], afterSeq: 0, limit: CALLS_PAGE }
    }),
    ({ data }) => data.flatMap((event) => (event.type === "llm.call.completed" ? [event] : []))
  )

const costSummary = tool({
  name: "cost_summary",
  title: "Sum the cost of runs",
  description:
    "Runs, calls, tokens and US dollars by scenario, agent, model or day. Agents and models come from the 25 dearest " +
    "matching runs, the others from the latest 1,000. Not for one run (run_get).",
  access: "viewer",
  input: { q, groupBy: Schema.Literals(["scenario", "agent", "model", "day"]) },
  output: { groupBy: scalar, runs: scalar, costUsd: scalar, ...page },
  call: Effect.fnUntraced(function* ({ groupBy, q }, context) {
    const byCall = groupBy === "agent" || groupBy === "model"
    const most = byCall ? MAX_RUNS_WITH_CALLS : MAX_RUNS
    const { runs, total } = yield* matching(context, q, byCall ? "cost" : "createdAt", most)
    const sums = new Map<string, Sum>()
    if (byCall) {
      const calls = yield* Effect.forEach(runs, (run) => callsOf(context, run), { concurrency: 4 })
      for (const ofRun of calls) {
        const seen = new Set<string>()
        for (const { data } of ofRun) {
          const key = (groupBy === "agent" ? data.sender : data.model) || "unknown"
          addTo(sums, key, {
            runs: seen.has(key) ? 0 : 1,
            calls: data.calls,
            tokens: data.totalTokens,
            costUsd: data.estimatedCostUsd ?? 0
          })
          seen.add(key)
        }
      }
    } else {
      for (const run of runs) {
        const key = groupBy === "day" ? run.createdAt.slice(0, 10) : (scenarioOfRecord(run) ?? "unknown")
        addTo(sums, key, { runs: 1, tokens: run.usage?.totalTokens ?? 0, costUsd: run.usage?.estimatedCostUsd ?? 0 })
      }
    }
    const groups = [...sums].toSorted(([a, left], [b, right]) =>
      groupBy === "day" ? (a < b ? 1 : -1) : right.costUsd - left.costUsd
    )
    return {
      facts: {
        groupBy,
        runs: runs.length,
        matching: total,
        isPartial: total > runs.length,
        costUsd: sumUsd(groups.map(([, sum]) => sum.costUsd))
      },
      items: groups.map(
        ([key, { calls, ...sum }]): Item => ({ row: { [groupBy]: key, ...sum, ...(byCall && { calls }) } })
      ),
      rest: "runs_search"
    }
  })
})

const sealVerify = tool({
  name: "seal_verify",
  title: "Verify the seal of a run",
  description:
    "Reads every event of a run that has ended and checks the hash chain and the signature of its seal. Slow for long " +
    "runs. Not a proof against a dishonest service: `runplane verify` checks an export offline.",
  access: "viewer",
  input: { runId },
  output: { ok: scalar, verdict: scalar, events: scalar, signature: scalar, why: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const seal = yield* plane.api.seals.seal({ params: { id: input.runId } })
    const { keys } = yield* plane.api.sealKeys.keys()
    const found = yield* walkRun(plane.api, { seal, walk: (proof) => walkSealed(sha256, checkBy(keys), seal, proof) })
    return {
      facts: defined({
        runId: seal.runId,
        ok: found.ok,
        ...(found.ok
          ? { verdict: "fits", events: found.events, signature: found.signature }
          : {
              // A missing key proves nothing, and is not a change.
              verdict: found.unknownKey === undefined ? "doesNotFit" : "notProven",
              why: found.why,
              ...(found.index !== undefined && { index: found.index })
            }),
        keyId: seal.keyId,
        sealedAt: seal.sealedAt,
        head: seal.head,
        unproven: doubtsOf(seal)
      }),
      rest: "run_events"
    }
  })
})

const health = tool({
  name: "health",
  title: "Check the services",
  description:
    "Whether the control plane, its database and its runtime work, and who the caller is. Use it when other tools fail. " +
    "Not for figures of runs (cost_summary, stability).",
  access: "viewer",
  input: {},
  output: { status: scalar, caller: scalar },
  call: Effect.fnUntraced(function* (_, { backend: { launcher, plane }, caller }) {
    const { checks, ingest, status } = yield* plane.api.health.readyz({ query: {} })
    return {
      facts: json({
        status,
        checks,
        ...(ingest !== undefined && { ingest }),
        caller,
        hasLaunchService: launcher !== undefined
      }),
      rest: "health"
    }
  })
})

export const fleetTools = [costSummary, sealVerify, health]
