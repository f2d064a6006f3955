import * as PgClient from "@effect/sql-pg/PgClient"
import type { ExportedSession } from "@runplane/api"
import {
  type ChainVersion,
  type ErasureAppendix,
  isUuid,
  type MemberSalts,
  type RunId,
  rawEventId,
  type Seal,
  storedSalts
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BeginTransaction } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../../event-log/runs/RunRow.ts"
import { type SaltsRow, saltsColumn } from "../../event-log/StoredSalts.ts"
import { RunErasures } from "../../event-log/seal/RunErasures.ts"
import { readStoredSeal } from "../../platform/ledger/StoredSeal.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { sha256 } from "../../platform/Sha256.ts"
import { RunDocuments } from "../runs/RunDocuments.ts"

/** The head of an export, read at one moment, with the numbers of its events. */
export interface ExportHead {
  readonly run: StoredRun
  /** JSON; undefined before the first value. */
  readonly session: string | undefined
  readonly projection: string | undefined
  readonly metrics: string | undefined
  readonly canonicalEvents: number
  readonly rawEvents: number
  /** The seal of all events; undefined before the end of the run. */
  readonly seal: Seal | undefined
  /** Version of the chains of the run. */
  readonly chain: ChainVersion
  /** Undefined for a run of which nothing was erased. */
  readonly erasures: ErasureAppendix | undefined
}

/** The JSON of a raw event, with its dense index in the run and its salts. */
export interface RawEventText {
  readonly seq: number
  readonly json: string
  readonly salts: MemberSalts | undefined
}

/** The reads of exports. */
export class ExportRepository extends Context.Service<
  ExportRepository,
  {
    readonly head: (reference: string) => Effect.Effect<ExportHead | undefined, SqlError>
    /** The references without a run, in order. */
    readonly missing: (references: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, SqlError>
    /** The next page, bounded in bytes; empty only at the end. */
    readonly rawEvents: (
      runId: RunId,
      afterSeq: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<RawEventText>, SqlError>
  }
>()("runplane/control-plane/ExportRepository") {
  static readonly layer = Layer.effect(
    ExportRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const documents = yield* RunDocuments
      const runs = yield* RunRepository
      const states = yield* RunStateReader
      const erasures = yield* RunErasures

      /** The archive has neither the session nor the raw events. */
      const coldHead = Effect.fnUntraced(function* (run: StoredRun) {
        const { id, lastEventIndex } = run.record
        const head: ExportHead = {
          run,
          session: undefined,
          projection: (yield* states.current(id))?.state,
          metrics: yield* documents.metrics(id),
          canonicalEvents: lastEventIndex,
          rawEvents: 0,
          seal: undefined,
          chain: 1,
          erasures: yield* erasures.appendix(id)
        }
        return head
      })

      const readHead = Effect.fnUntraced(function* (reference: string) {
        const run = yield* runs.find(reference)
        if (run === undefined) return undefined
        const { id, lastEventIndex } = run.record
        const [row] = yield* sql<DocumentRow>`
          SELECT m.metrics::text AS metrics, h.last_raw_seq, h.stream_cursor, h.chain_version,
                 (SELECT seal::text FROM run_seals s WHERE s.run_id = h.run_id AND s.events = h.last_index) AS seal
          FROM run_heads h LEFT JOIN run_metrics m USING (run_id) WHERE run_id = ${id}::uuid`
        const projection = lastEventIndex === 0 ? undefined : yield* states.current(id)
        const [session] = yield* sql<SessionRow>`
          SELECT runtime_kind, runtime_session_id, mode_name, mode_version, configuration_version, policy_version,
                 initiator_participant_id, session_state, expires_at, last_seen_at, capabilities, participants,
                 stream_connected_at, stream_disconnected_at, created_at, updated_at
          FROM sessions WHERE run_id = ${id}::uuid`
        const head: ExportHead = {
          run,
          session: session && JSON.stringify(toSession(id, session, Number(row?.stream_cursor ?? 0n))),
          projection: projection?.state,
          metrics: row?.metrics ?? undefined,
          canonicalEvents: lastEventIndex,
          rawEvents: row?.last_raw_seq ?? 0,
          seal: typeof row?.seal === "string" ? readStoredSeal(row.seal) : undefined,
          chain: row?.chain_version === 2 ? 2 : 1,
          erasures: yield* erasures.appendix(id)
        }
        return head
      })
      const head = Effect.fn("ExportRepository.head")(function* (reference: string) {
        // Apart from the transaction, which would hold its connection while files are read.
        const run = yield* runs.find(reference)
        if (run?.record.storage === "archive") return yield* coldHead(run)
        return yield* Effect.provideService(
          sql.withTransaction(readHead(reference)),
          BeginTransaction,
          "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
      })

      const missing = Effect.fn("ExportRepository.missing")(function* (references: ReadonlyArray<string>) {
        const rows = yield* sql<{ readonly reference: string }>`
          SELECT id::text AS reference FROM runs WHERE id = ANY(${references.filter(isUuid)}::text[]::uuid[])
          UNION ALL
          SELECT runtime_session_id FROM runs
          WHERE runtime_session_id = ANY(${references.filter((reference) => !isUuid(reference))}::text[])`
        const known = new Set(rows.map((row) => row.reference))
        const absent = references.filter(
          (reference) => !known.has(isUuid(reference) ? reference.toLowerCase() : reference)
        )
        return yield* Effect.filter(absent, (reference) =>
          Effect.map(runs.resolve(reference), (archived) => archived === undefined)
        )
      })

      const rawEvents = Effect.fn("ExportRepository.rawEvents")((runId: RunId, afterSeq: number, limit: number) =>
        Effect.map(
          readBounded<RawRow & SaltsRow>(sql, {
            keys: sql`ARRAY(
              SELECT seq FROM raw_events WHERE run_id = ${runId}::uuid AND seq > ${afterSeq} ORDER BY seq LIMIT ${limit})`,
            from: sql`raw_events AS frame`,
            isOf: (seq) => sql`run_id = ${runId}::uuid AND seq = ${seq}`,
            columns: sql`seq, ts, kind, source_name, payload::text AS payload, ${saltsColumn(sql, "frame")}`,
            large: ["payload"]
          }),
          ({ rows }) =>
            rows.map((row) => ({ seq: row.seq, json: rawEventText(runId, row), salts: storedSalts(row.salts) }))
        )
      )
      return ExportRepository.of({ head, missing, rawEvents })
    })
  )
}

interface DocumentRow {
  readonly metrics: string | null
  readonly last_raw_seq: number
  readonly stream_cursor: bigint
  readonly chain_version: number
  readonly seal: string | null
}

interface SessionRow {
  readonly runtime_kind: string
  readonly runtime_session_id: string
  readonly mode_name: string
  readonly mode_version: string
  readonly configuration_version: string
  readonly policy_version: string
  readonly initiator_participant_id: string
  readonly session_state: string
  readonly expires_at: Date | null
  readonly last_seen_at: Date | null
  readonly capabilities: ExportedSession["capabilities"]
  readonly participants: ReadonlyArray<string>
  readonly stream_connected_at: Date | null
  readonly stream_disconnected_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

const isoOf = (date: Date | null): string | null => date?.toISOString() ?? null

const toSession = (runId: RunId, row: SessionRow, lastStreamCursor: number): ExportedSession => ({
  runId,
  runtimeKind: row.runtime_kind,
  runtimeSessionId: row.runtime_session_id,
  modeName: row.mode_name,
  modeVersion: row.mode_version,
  configurationVersion: row.configuration_version,
  policyVersion: row.policy_version,
  initiatorParticipantId: row.initiator_participant_id,
  sessionState: row.session_state,
  expiresAt: isoOf(row.expires_at),
  lastSeenAt: isoOf(row.last_seen_at),
  capabilities: row.capabilities,
  lastStreamCursor,
  streamConnectedAt: isoOf(row.stream_connected_at),
  streamDisconnectedAt: isoOf(row.stream_disconnected_at),
  metadata: { participants: row.participants },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString()
})

interface RawRow {
  readonly seq: number
  readonly ts: Date
  readonly kind: string
  readonly source_name: string
  readonly payload: string
}

const rawEventText = (runId: RunId, row: RawRow): string => {
  const ts = row.ts.toISOString()
  const event = {
    id: rawEventId(sha256, runId, row.seq),
    runId,
    seq: row.seq,
    ts,
    kind: row.kind,
    sourceName: row.source_name
  }
  return `${JSON.stringify(event).slice(0, -1)},"payload":${row.payload},"createdAt":"${ts}"}`
}
