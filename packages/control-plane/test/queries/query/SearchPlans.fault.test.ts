import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  type AuditQuery,
  auditQueryFields,
  type DescribedField,
  type MarksQuery,
  markQueryFields,
  type RunListQuery,
  runQueryFields
} from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AuditLog } from "../../../src/platform/audit/AuditLog.ts"
import type { UnknownCursor } from "../../../src/platform/postgres/search/PageCursor.ts"
import type { SearchFailure } from "../../../src/platform/postgres/search/SearchBudget.ts"
import { MarkSearch } from "../../../src/queries/marks/MarkSearch.ts"
import { RunList } from "../../../src/queries/runs/RunList.ts"
import { layerSearches } from "../../../src/Reactions.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { scansOf } from "../../support/Plans.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

/** `SEARCH_ROWS=1000000` tests a million rows, which takes some minutes. */
const RUNS = Number(process.env["SEARCH_ROWS"] ?? 100_000)
/** Limit of an indexed search on a busy machine, far below a scan of all rows. Milliseconds. */
const SLOWEST_MS = 2_000

const layerReads = Layer.mergeAll(AuditLog.layer, MarkSearch.layer, RunList.layer).pipe(
  Layer.provide(layerSearches),
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(layerTestDatabase)
)

const BIG_TABLES = [
  ...["runs", "run_heads", "tallied_runs", "run_labels", "run_participants", "audit_log", "marks"],
  ...["run_decisions", "run_models", "alert_firings"]
]

/** Ended runs with their related rows, and as many audit entries. */
const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  // The rows are consistent without triggers.
  yield* sql`SET LOCAL session_replication_role = replica`.unprepared
  yield* sql`SET LOCAL statement_timeout = 0`.unprepared
  // Indexes are made behind the rows, which takes a third of the time.
  yield* sql`
    CREATE TEMP TABLE waiting ON COMMIT DROP AS
    SELECT indexname, indexdef FROM pg_indexes
    WHERE schemaname = current_schema() AND tablename = ANY(${BIG_TABLES}::text[])
      AND indexname NOT IN (SELECT conname FROM pg_constraint)`
  yield* sql`
    DO $$ DECLARE each record; BEGIN
      FOR each IN SELECT indexname FROM waiting LOOP EXECUTE 'DROP INDEX ' || each.indexname; END LOOP;
    END $$`.unprepared
  yield* sql`
    INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, idempotency_key,
                      source_ref, scenario_ref, environment, policy_version, error_code, tags, metadata, search_text,
                      created_at, updated_at, started_at, ended_at)
    SELECT gen_random_uuid(), CASE n % 1000 WHEN 1 THEN 'failed' ELSE 'completed' END, 'live', 'm', 'rust', n::text,
           md5(n::text), 's', n::text, 'source-' || n % 5000, 'Scenario-' || n % 5000, 'env-' || n % 5000,
           'policy-' || n % 5000, CASE n % 1000 WHEN 1 THEN 'E' || n % 50 END, ARRAY['t' || n % 5000], '{}', '', at, at, at,
           at + n % 100000 * interval '1 ms'
    FROM generate_series(1, ${RUNS}::int) AS n, LATERAL (SELECT now() - n * interval '1 minute' AS at) AS t`
  yield* sql`INSERT INTO run_heads (run_id, last_index) SELECT id, runtime_session_id::int % 10000 FROM runs`
  yield* sql`
    INSERT INTO tallied_runs (run_id, created_at, ended_at, status, archived, declined, tokens, cost, events)
    SELECT id, created_at, ended_at, status, false, false, runtime_session_id::int % 50000,
           runtime_session_id::int % 50000 * 0.001, runtime_session_id::int % 10000 FROM runs`
  yield* sql`INSERT INTO run_totals SELECT status, archived, count(*) FROM tallied_runs GROUP BY 1, 2`
  yield* sql`
    INSERT INTO run_labels SELECT id, 'team', 'team-' || runtime_session_id::int % 5000 FROM runs`
  yield* sql`
    INSERT INTO run_participants
    SELECT id, 'agent-' || runtime_session_id::int % 5000, 1, 0, 0, 0 FROM runs`
  yield* sql`INSERT INTO run_models SELECT id, 'model-' || runtime_session_id::int % 5000 FROM runs`
  yield* sql`
    INSERT INTO run_decisions
    SELECT id, n, 10, now(), 'for', '{}', 'option ' || n, ARRAY['REJECT agent-' || n % 5000, 'APPROVE agent-' || (n + 1) % 5000],
           ARRAY['agent-' || n % 5000], 'case-' || n % 5000
    FROM (SELECT id, runtime_session_id::int AS n FROM runs) AS r`
  yield* sql`
    INSERT INTO alert_rules (id, rule, enabled, from_seq, created_at, updated_at)
    SELECT 'rule-' || n, json_build_object('name', 'Rule ' || n), false, 0, now(), now() FROM generate_series(1, 100) AS n`
  yield* sql`
    INSERT INTO alert_firings (id, rule_id, key, period, level, severity, firing, actions, run_id, starts_at, silenced)
    SELECT gen_random_uuid(), 'rule-' || CASE n % 1000 WHEN 1 THEN 77 ELSE n % 50 END, id::text, '', 0, 'info', '{}', '[]',
           id, now(), false
    FROM (SELECT id, runtime_session_id::int AS n FROM runs) AS r`
  yield* sql`
    INSERT INTO marks (id, run_id, position, target_kind, name, number, flag, category, source, judge_name, author,
                       created_at, content_sha256)
    SELECT gen_random_uuid(), id, kind, 'decision', CASE kind WHEN 1 THEN 'quality' WHEN 2 THEN 'tone' ELSE 'name-' || n % 5000 END,
           CASE kind WHEN 1 THEN n::float8 / ${RUNS}::int END, CASE kind WHEN 3 THEN n % 5000 = 77 END,
           CASE kind WHEN 2 THEN 'tone-' || n % 5000 END, 'human', NULL, 'key:' || n % 50, created_at, ''
    FROM (SELECT id, created_at, runtime_session_id::int AS n FROM runs) AS r, generate_series(1, 3) AS kind`
  yield* sql`
    INSERT INTO audit_log (actor, actor_type, action, resource, resource_id, details, created_at)
    SELECT 'key:' || n % 5000, 'api-key', 'action-' || n % 5000, 'thing-' || n % 5000, n::text, '{}', now() - n * interval '1 minute'
    FROM generate_series(1, ${RUNS}::int) AS n`
  yield* sql`
    DO $$ DECLARE each record; BEGIN
      FOR each IN SELECT indexdef FROM waiting LOOP EXECUTE each.indexdef; END LOOP;
    END $$`.unprepared
  yield* sql`ANALYZE`.unprepared
})

const ID = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
/** A time before some hundred of the rows. */
const recent = () => new Date(Date.now() - 5 * 3_600_000).toISOString()

/** A rare value of every fast field of runs. */
const ofRuns: Readonly<Record<string, ReadonlyArray<string>>> = {
  id: [`id:${ID}`],
  status: ["status:failed", "status:(failed,cancelled)"],
  runtimeSessionId: ["runtimeSessionId:77"],
  traceId: ["traceId:x"],
  idempotencyKey: ["idempotencyKey:77"],
  scenario: ["scenario:source-77"],
  sourceRef: ["sourceRef:source-77"],
  scenarioRef: ["scenarioRef:scenario-77"],
  environment: ["environment:env-77"],
  policyVersion: ["policyVersion:policy-77"],
  tags: ["tags:t77", "tags:(t77,t78)"],
  participant: ["participant:agent-77"],
  errorCode: ["errorCode:E1"],
  metadata: ["metadata.team:team-77"],
  mark: [
    "mark.quality:>0.9998",
    "mark.tone:tone-77",
    "mark.name-77:true",
    "has:mark.name-77",
    "mark.quality:0.1..0.1002"
  ],
  source: ["source:key-77"],
  conversation: ["conversation:talk-77"],
  framework: ["framework:frame-77"],
  prompt: ["prompt:prompt-77"],
  model: ["model:model-77"],
  vote: ["vote.agent-77:REJECT", "vote.agent-77:(REJECT,ABSTAIN)", "has:vote.agent-77"],
  dissent: ["dissent:agent-77"],
  case: ["case:case-77"],
  alert: ["alert:rule-77", 'alert:"Rule 77"'],
  createdAt: [`createdAt:>"${recent()}"`],
  updatedAt: [`updatedAt:>"${recent()}"`],
  endedAt: [`endedAt:>"${recent()}"`],
  duration: ["duration:99990..99999"],
  cost: ["cost:>49.99"],
  tokens: ["tokens:>49990"],
  events: ["events:>9998"]
}
const ofAudit: Readonly<Record<string, ReadonlyArray<string>>> = {
  id: [`id:${ID}`],
  actor: ["actor:key:77"],
  action: ["action:action-77"],
  resource: ["resource:thing-77"],
  resourceId: ["resourceId:77"],
  createdAt: [`createdAt:>"${recent()}"`]
}

const ofMarks: Readonly<Record<string, ReadonlyArray<string>>> = {
  id: [`id:${ID}`],
  name: ["name:name-77"],
  value: ["name:quality value:>0.9998", "name:tone value:tone-77"],
  run: [`run:${ID}`],
  createdAt: [`createdAt:>"${recent()}"`]
}

const fastNames = (fields: ReadonlyArray<DescribedField>) =>
  fields.filter(({ isFast }) => isFast).map(({ name }) => name)

layer(layerReads, { excludeTestServices: true, timeout: 1_200_000 })(
  `documented-fast searches at ${RUNS} rows`,
  (it) => {
    let filled = false
    const onBigDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        if (!filled) yield* PgClient.PgClient.use((sql) => sql.withTransaction(fill))
        filled = true
        return yield* effect
      })

    const first: RunListQuery = { limit: 50, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false }
    const runs = (query: Partial<RunListQuery>) =>
      Effect.asVoid(RunList.use((list) => list.list({ ...first, ...query })))
    const audit = (query: Partial<AuditQuery>) =>
      Effect.asVoid(AuditLog.use((log) => log.list({ limit: 50, offset: 0, ...query })))
    const marks = (query: Partial<MarksQuery>) =>
      Effect.asVoid(MarkSearch.use((search) => search.list({ limit: 50, offset: 0, ...query })))
    type Search = Effect.Effect<void, SearchFailure | SqlError | UnknownCursor, AuditLog | MarkSearch | RunList>
    const searches: ReadonlyArray<readonly [name: string, search: Search]> = [
      ...Object.values(ofRuns).flatMap((texts) => texts.map((q) => [`/runs?q=${q}`, runs({ q })] as const)),
      ...(["duration", "cost", "tokens", "events"] as const).flatMap((sortBy) =>
        (["asc", "desc"] as const).map(
          (sortOrder) => [`/runs by ${sortBy} ${sortOrder}`, runs({ sortBy, sortOrder })] as const
        )
      ),
      ...Object.values(ofMarks).flatMap((texts) => texts.map((q) => [`/marks?q=${q}`, marks({ q })] as const)),
      ...Object.values(ofAudit).flatMap((texts) => texts.map((q) => [`/audit?q=${q}`, audit({ q })] as const))
    ] as const

    it.effect(
      "each scan no big table, and take no longer than a glance",
      () =>
        onBigDatabase(
          Effect.gen(function* () {
            assert.sameMembers(Object.keys(ofRuns), fastNames(runQueryFields))
            assert.sameMembers(Object.keys(ofAudit), fastNames(auditQueryFields))
            assert.sameMembers(Object.keys(ofMarks), fastNames(markQueryFields))
            const wrong: Array<string> = []
            for (const [name, search] of searches) {
              const scanned = (yield* scansOf(search)).filter((table) => BIG_TABLES.includes(table))
              if (scanned.length > 0) wrong.push(`${name} scans ${scanned.join(", ")}`)
              const startedAt = performance.now()
              yield* search
              const took = performance.now() - startedAt
              if (took > SLOWEST_MS) wrong.push(`${name} took ${Math.round(took)} ms`)
              yield* Effect.logInfo(`${name}: ${Math.round(took)} ms`)
            }
            assert.deepStrictEqual(wrong, [])
          })
        ),
      1_200_000
    )
  }
)
