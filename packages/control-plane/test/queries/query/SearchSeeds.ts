import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { facetFields } from "@runplane/api"
import type { MarkValue, QueryValue } from "@runplane/domain"
import { scenarioOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { insertMark } from "../../support/MarkSeeds.ts"
import type { Facts } from "./QueryModel.ts"

export const SECRET = "a-secret-bearer"

const at = (day: number, hour = 0) =>
  `2026-07-${String(day).padStart(2, "0")}T${String(hour).padStart(2, "0")}:00:00.000Z`

const STATUSES = ["running", "completed", "failed", "cancelled", "completed", "queued", "completed", "failed"]

/** A run in the rows of all tables that a search over runs reads. */
const seedOf = (number: number) => {
  const status = STATUSES[number % STATUSES.length] ?? ""
  const isEnded = !["running", "queued"].includes(status)
  const id = randomUUID()
  return {
    id,
    status,
    createdAt: at(1 + (number % 20), number % 3),
    endedAt: isEnded ? at(1 + (number % 20), 3 + (number % 5)) : undefined,
    startedAt: status === "queued" ? undefined : at(1 + (number % 20), number % 3),
    archivedAt: number % 7 === 1 ? at(28) : undefined,
    traceId: `trace-${number}`,
    runtimeKind: number % 12 < 4 ? "otlp" : "rust",
    sourceRef: number % 2 === 0 ? `loans/source-${number % 4}` : undefined,
    scenarioRef: number % 3 === 0 ? `Loans/Fast-${number % 6}` : undefined,
    environment: number % 3 === 1 ? "staging" : undefined,
    policyVersion: number % 4 === 0 ? "policy.strict" : undefined,
    errorCode: status === "failed" ? "SESSION_EXPIRED" : undefined,
    idempotencyKey: number % 5 === 0 ? `key-${number}` : undefined,
    tags: number % 2 === 0 ? ["nightly", `t${number % 3}`] : [],
    participants: number % 2 === 0 ? ["agent://lead", `agent://${number % 3}`] : [],
    metadata: {
      team: number % 2 === 0 ? "payments" : 'it\'s 100% "odd"',
      size: number,
      flags: ["a", true],
      inner: { deep: { er: `v${number % 3}` } },
      long: `${"x".repeat(450)}${number}`,
      nothing: null,
      cancelCallback: { url: "https://example.org", bearer: SECRET },
      executionRequest: { session: { metadata: { cancelCallback: { bearer: SECRET } } } }
    },
    tokens: number * 10,
    cost: (number % 4) * 0.25,
    events: 1 + (number % 6),
    signals: number % 3,
    decisions: number % 2,
    outcome: status === "completed" && number % 2 === 0 ? number % 4 === 0 : undefined,
    marks: [
      ...(number % 2 === 0 ? [{ name: "quality", value: (number % 5) / 4 }] : []),
      ...(number % 6 === 0 ? [{ name: "quality", value: 0.5 }] : []),
      ...(number % 3 === 0 ? [{ name: "correct", value: number % 4 === 0 }] : []),
      ...(number % 4 === 1 ? [{ name: "tone", value: ["rude", "1", "true"][number % 3] ?? "" }] : [])
    ]
  }
}

export type Seed = ReturnType<typeof seedOf>

/** Runs in all tables: most ended ones are in the sums, and some were changed afterwards. */
export const seedRuns = Effect.fnUntraced(function* (count: number) {
  const sql = yield* PgClient.PgClient
  const seeds = Array.from({ length: count }, (_, number) => seedOf(number))
  for (const [number, seed] of seeds.entries()) {
    const search = [seed.id, seed.scenarioRef, seed.environment, seed.sourceRef, seed.policyVersion, ...seed.tags]
    yield* sql`
      INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, idempotency_key,
                        source_ref, scenario_ref, environment, policy_version, error_code, tags, metadata, search_text,
                        created_at, updated_at, started_at, ended_at, archived_at)
      VALUES (${seed.id}::uuid, ${seed.status}, 'live', 'macp.mode.decision.v1', ${seed.runtimeKind}, ${seed.id}, ${seed.traceId}, 's',
              ${seed.idempotencyKey ?? null}, ${seed.sourceRef ?? null}, ${seed.scenarioRef ?? null},
              ${seed.environment ?? null}, ${seed.policyVersion ?? null}, ${seed.errorCode ?? null}, ${seed.tags}::text[],
              ${JSON.stringify(seed.metadata)}::text::json,
              ${search
                .filter((part) => part !== undefined)
                .join("\n")
                .toLowerCase()},
              ${seed.createdAt}::timestamptz, ${seed.createdAt}::timestamptz, ${seed.startedAt ?? null}::timestamptz,
              ${seed.endedAt ?? null}::timestamptz, ${seed.archivedAt ?? null}::timestamptz)`
    yield* sql`INSERT INTO run_heads (run_id, last_index) VALUES (${seed.id}::uuid, ${seed.events})`
    yield* sql`
      INSERT INTO run_metrics (run_id, metrics, prompt_tokens, completion_tokens, total_tokens, estimated_cost_usd,
                               signal_count, decision_count)
      VALUES (${seed.id}::uuid, '{}', 0, 0, ${BigInt(seed.tokens)}, ${String(seed.cost)}::float8, ${seed.signals}, ${seed.decisions})`
    for (const participant of seed.participants) {
      yield* sql`INSERT INTO run_participants VALUES (${seed.id}::uuid, ${participant}, 1, 0, 0, 0)`
    }
    for (const [at, mark] of seed.marks.entries()) {
      yield* insertMark({ runId: seed.id, ...mark, createdAt: `2026-07-0${at + 1}T00:00:00.000Z` })
    }
    yield* insertMark({ runId: seed.id, name: "quality", value: 77, replaced: true })
    yield* insertMark({ runId: seed.id, name: "tone", value: "gone", deleted: true })
    if (seed.outcome !== undefined) {
      yield* sql`
        INSERT INTO key_events (run_id, seq, ts, type, positive)
        VALUES (${seed.id}::uuid, ${BigInt(-2 * number - 2)}, now(), 'decision.finalized', NOT ${seed.outcome}::boolean),
               (${seed.id}::uuid, ${BigInt(-2 * number - 1)}, now(), 'decision.finalized', ${seed.outcome}::boolean)`
    }
  }
  yield* sql`SELECT fold_tallies(100000)`
  // A late event changes the figures of an ended run, and adds a note that the sums are outdated.
  const late = seeds.filter(({ endedAt }, number) => endedAt !== undefined && number % 4 === 1)
  const ids = late.map(({ id }) => id)
  yield* sql`UPDATE run_metrics SET total_tokens = total_tokens + 5 WHERE run_id = ANY(${ids}::text[]::uuid[])`
  yield* sql`INSERT INTO tally_changes SELECT unnest(${ids}::text[]::uuid[])`
  return seeds.map((seed) => (ids.includes(seed.id) ? { ...seed, tokens: seed.tokens + 5 } : seed))
})

const some = (...values: ReadonlyArray<QueryValue | undefined>) => values.filter((value) => value !== undefined)

const LABELS: Readonly<Record<string, (seed: Seed) => ReadonlyArray<QueryValue>>> = {
  team: ({ metadata }) => [metadata.team],
  size: ({ metadata }) => [String(metadata.size)],
  flags: () => ["a", "true"],
  "inner.deep.er": ({ metadata }) => [metadata.inner.deep.er],
  // The first 400 characters of a text are compared.
  long: () => ["x".repeat(400)]
}

/** Names behind `metadata.`; those of secrets match nothing. */
export const LABEL_PATHS = [...Object.keys(LABELS), "nothing", "cancelCallback.bearer", "executionRequest", "no.such"]

/** Marks of some events by their seq; beside them others that match no event. */
export const seedEventMarks = Effect.fnUntraced(function* (
  events: ReadonlyArray<{ readonly index: number; readonly runId: string; readonly seq: number }>
) {
  const marked = new Map<number, ReadonlyArray<{ readonly name: string; readonly value: MarkValue }>>()
  for (const { index, runId, seq } of events) {
    const own = [
      { name: "quality", value: (seq % 5) / 4 },
      { name: "tone", value: seq % 2 === 0 ? "rude" : "1" },
      { name: "correct", value: seq % 3 === 0 }
    ].slice(0, index % 4)
    for (const mark of own) yield* insertMark({ runId, index, kind: "event", ...mark })
    yield* insertMark({ runId, index, kind: "event", name: "quality", value: 0.5, replaced: true })
    yield* insertMark({ runId, index, kind: "event", name: "none", value: true, deleted: true })
    yield* insertMark({ runId, kind: "run", name: "none", value: 1 })
    marked.set(seq, own)
  }
  return marked
})

/** Names behind `mark.`; the last one matches nothing. */
export const MARK_PATHS = ["quality", "correct", "tone", "none"]

/** The searchable values of a seed. */
export const factsOf = (seed: Seed, _: number, seeds: ReadonlyArray<Seed>): Facts => {
  const known: Readonly<Record<string, ReadonlyArray<QueryValue>>> = {
    id: [seed.id],
    status: [seed.status],
    runtimeSessionId: [seed.id],
    traceId: [seed.traceId],
    idempotencyKey: some(seed.idempotencyKey),
    scenario: some(scenarioOf(seed)),
    sourceRef: some(seed.sourceRef),
    scenarioRef: some(seed.scenarioRef),
    environment: some(seed.environment),
    policyVersion: some(seed.policyVersion),
    tags: seed.tags,
    participant: seed.participants,
    errorCode: some(seed.errorCode),
    createdAt: [seed.createdAt],
    updatedAt: [seed.createdAt],
    startedAt: some(seed.startedAt),
    endedAt: some(seed.endedAt),
    archivedAt: some(seed.archivedAt),
    archived: [seed.archivedAt !== undefined],
    duration: durationOf(seed) === -1 ? [] : [durationOf(seed)],
    cost: [seed.cost],
    costRank: rankOf(seed, seeds, ({ cost }) => cost),
    durationRank: rankOf(seed, seeds, durationOf),
    tokens: [seed.tokens],
    events: [seed.events],
    signals: [seed.signals],
    decisions: [seed.decisions],
    mode: ["live"],
    modeName: ["macp.mode.decision.v1"],
    runtimeKind: [seed.runtimeKind],
    runtimeVersion: [],
    sourceKind: [],
    outcome: seed.outcome === undefined ? [] : [seed.outcome ? "positive" : "negative"],
    event: []
  }
  const text = [seed.id, seed.scenarioRef, seed.environment, seed.sourceRef, seed.policyVersion, ...seed.tags]
  return {
    values: (field, path) => {
      if (field === "metadata") return LABELS[path ?? ""]?.(seed) ?? []
      if (field !== "mark") return known[field] ?? []
      return seed.marks.flatMap(({ name, value }) => (path === undefined || path === name ? [value] : []))
    },
    text: text.filter((part) => part !== undefined).join("\n")
  }
}

/** The share of the runs of its scenario with a smaller value, of 10 runs or more that have one. */
const rankOf = (seed: Seed, seeds: ReadonlyArray<Seed>, of: (seed: Seed) => number): ReadonlyArray<number> => {
  const scenario = scenarioOf(seed)
  const values = seeds.filter((other) => scenarioOf(other) === scenario && of(other) > 0).map(of)
  if (scenario === undefined || of(seed) <= 0 || values.length < 10) return []
  const smaller = values.filter((value) => value < of(seed)).length
  return [Math.round((1_000 * smaller) / (values.length - 1)) / 1_000]
}

/** The latest mark of a name as a number, as lists sort it. */
export const markOf = ({ marks }: Seed, name: string): number => {
  const value = marks.findLast((mark) => mark.name === name)?.value
  return typeof value === "string" || value === undefined ? Number.NEGATIVE_INFINITY : Number(value)
}

/** Milliseconds; -1 without, as lists sort them. */
export const durationOf = ({ endedAt, startedAt }: Seed): number =>
  endedAt === undefined || startedAt === undefined ? -1 : Date.parse(endedAt) - Date.parse(startedAt)

/** The facets of runs: the values of each field with the number of their runs, the most frequent first. */
export const facetsOf = (seeds: ReadonlyArray<Seed>) =>
  facetFields.flatMap((field) => {
    const all = seeds.flatMap((seed) => (field === "scenario" ? scenarioOf(seed) : seed[field]) ?? [])
    const values = [...Map.groupBy(all, (value) => value)]
      .map(([value, of]) => ({ value, count: of.length }))
      .toSorted((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
    return values.length === 0 ? [] : [{ field, values }]
  })
