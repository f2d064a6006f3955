import * as PgClient from "@effect/sql-pg/PgClient"
import { type DraftHead, draftEvent, type EventDraft, type SubjectKind } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { createRun } from "../../support/Runs.ts"

/** A run with a start, an end and a cost, and the figures of its log. */
export interface RunSeed {
  readonly status: string
  readonly createdAt: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly errorCode?: string
  readonly sourceRef?: string
  readonly scenarioRef?: string
  readonly environment?: string
  readonly archived?: boolean
  readonly tokens?: number
  readonly cost?: number
  readonly guessed?: number
  readonly events?: ReadonlyArray<EventDraft>
}

const head = (kind: SubjectKind, ts: string): DraftHead => ({
  ts,
  subject: { kind, id: ts },
  source: { kind: "runtime", name: "rust-runtime" }
})

export const signal = (ts: string, sender = "agent://lead", confidence?: number): EventDraft =>
  draftEvent("signal.emitted", head("signal", ts), {
    sender,
    decodedPayload: { signalType: "s", ...(confidence !== undefined && { confidence }) }
  })

/** A contribution to a decision. */
export const contribution = (ts: string, messageType: string, sender: string, confidence?: number): EventDraft =>
  draftEvent("proposal.updated", head("proposal", ts), {
    messageType,
    sender,
    decodedPayload: { proposalId: "p1", ...(confidence !== undefined && { confidence }) }
  })

/** A call of a model. */
export const llmCall = (ts: string, tokens: number): EventDraft =>
  draftEvent("llm.call.completed", head("signal", ts), {
    sender: "agent://lead",
    promptTokens: tokens,
    totalTokens: tokens
  })

export const decision = (ts: string, positive?: boolean): EventDraft =>
  draftEvent("decision.finalized", head("decision", ts), {
    sender: "agent://lead",
    decodedPayload: { action: "a", ...(positive !== undefined && { outcome_positive: positive }) }
  })

export const seedRun = Effect.fnUntraced(function* (seed: RunSeed) {
  const sql = yield* PgClient.PgClient
  const log = yield* EventLog
  const runId = yield* createRun()
  if (seed.events !== undefined) yield* log.record({ runId, events: seed.events })
  const updateRun = sql`
    UPDATE runs SET status = ${seed.status}, created_at = ${seed.createdAt}::timestamptz,
                    started_at = ${seed.startedAt ?? null}::timestamptz, ended_at = ${seed.endedAt ?? null}::timestamptz,
                    error_code = ${seed.errorCode ?? null}, source_ref = ${seed.sourceRef ?? null},
                    scenario_ref = ${seed.scenarioRef ?? null}, environment = ${seed.environment ?? null},
                    archived_at = ${seed.archived === true ? seed.createdAt : null}::timestamptz
    WHERE id = ${runId}::uuid`
  const updateMetrics = sql`
    UPDATE run_metrics SET total_tokens = ${String(seed.tokens ?? 0)}::float8, estimated_cost_usd = ${String(seed.cost ?? 0)}::float8,
                           guessed_cost_usd = ${String(seed.guessed ?? 0)}::float8
    WHERE run_id = ${runId}::uuid`
  // In one transaction, as an append does it, because the sums may include the run as soon as it has ended.
  yield* sql.withTransaction(Effect.andThen(updateRun, updateMetrics))
  return runId
})

/** A time on the day of the seeds. */
export const at = (time: string) => `2026-07-01T${time}.000Z`

/** Runs of one day; the last two are outside of the window of the tests. */
export const seeds: ReadonlyArray<RunSeed> = [
  {
    status: "completed",
    createdAt: at("10:05:00"),
    startedAt: at("10:06:00"),
    endedAt: at("11:06:01"),
    sourceRef: "loans/fast@1",
    scenarioRef: "Loans/Fast",
    environment: "staging",
    tokens: 100,
    cost: 1.234,
    guessed: 0.034,
    events: [
      signal(at("10:30:00")),
      signal(at("10:40:00")),
      decision(at("11:05:00"), true),
      decision(at("11:06:00"), true)
    ]
  },
  {
    status: "completed",
    createdAt: at("10:50:00"),
    startedAt: at("11:00:00"),
    endedAt: at("11:00:02"),
    sourceRef: "loans/fast@1",
    environment: "production",
    tokens: 11,
    cost: 0.1,
    guessed: 0.1,
    events: [decision(at("11:00:00"), true), decision(at("11:00:01"), false)]
  },
  {
    status: "completed",
    createdAt: at("11:10:00"),
    startedAt: at("11:10:00"),
    endedAt: at("11:10:04"),
    scenarioRef: "loans/slow",
    events: [signal(at("11:30:00")), decision(at("11:10:03"))]
  },
  {
    status: "failed",
    createdAt: at("10:20:00"),
    endedAt: at("10:21:00"),
    errorCode: "RUNTIME_TIMEOUT",
    archived: true
  },
  { status: "failed", createdAt: at("10:20:00"), endedAt: at("10:22:00") },
  { status: "failed", createdAt: at("12:20:00"), endedAt: at("12:22:00"), errorCode: "RUNTIME_TIMEOUT" },
  { status: "cancelled", createdAt: at("12:21:00"), endedAt: at("12:22:00") },
  { status: "queued", createdAt: at("12:30:00") },
  { status: "starting", createdAt: at("13:30:00") },
  { status: "binding_session", createdAt: at("13:31:00") },
  { status: "running", createdAt: at("13:32:00") },
  { status: "suspended", createdAt: at("13:33:00"), environment: "staging" },
  // Outside the window.
  {
    status: "completed",
    createdAt: at("09:59:59"),
    startedAt: at("10:00:00"),
    endedAt: at("10:00:01"),
    tokens: 5_000,
    cost: 50
  },
  {
    status: "completed",
    createdAt: at("20:00:00"),
    startedAt: at("20:00:00"),
    endedAt: at("20:00:01"),
    events: [signal(at("20:00:00"))]
  }
]
