import * as PgClient from "@effect/sql-pg/PgClient"
import type { RemainingText } from "@runplane/api"
import { isFoundIn } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { searchTextOf } from "../runs/NewRun.ts"
import { type FoundRows, foundRows, makeScrubber, type RunErasure, togetherFound } from "./ErasureHooks.ts"

/** Members of the metadata by which a run is found, cloned and connected to its session. */
export const KEEP_OF_RUN = new Set([
  ...["id", "participantId", "participants", "sessionId", "modeName", "modeVersion", "mode", "runtime", "kind"],
  ...[
    "policyVersion",
    "configurationVersion",
    "source",
    "sourceRef",
    "scenarioRef",
    "environment",
    "traceId",
    "spanId"
  ],
  ...["idempotencyKey", "cancelCallback", "initiatorParticipantId"]
])

const KEEP_OF_MESSAGE = new Set([
  ...["runtimeSessionId", "messageId", "messageType", "category", "sender", "recipients", "status", "createdAt"],
  ...["acceptedAt", "updatedAt"]
])

interface RunTextRow {
  readonly metadata: string
  readonly tags: ReadonlyArray<string>
  readonly error_message: string | null
  readonly scenario_ref: string | null
  readonly environment: string | null
  readonly source_ref: string | null
  readonly source_kind: string | null
  readonly policy_version: string | null
  readonly idempotency_key: string | null
  readonly runtime_session_id: string
}

interface ArtifactRow {
  readonly id: string
  readonly label: string
  readonly uri: string | null
  readonly inline: string | null
}

interface MessageRow {
  readonly id: string
  readonly message: string
}

/** Columns of a run that stay, with their names for readers. */
const KEPT_COLUMNS = [
  ["scenario_ref", "scenarioRef"],
  ["environment", "environment"],
  ["source_ref", "sourceRef"],
  ["source_kind", "sourceKind"],
  ["policy_version", "policyVersion"],
  ["idempotency_key", "idempotencyKey"],
  ["runtime_session_id", "runtimeSessionId"]
] as const

/** What the rows of a run beside its log say: metadata, tags and error, artifacts, and the list of its messages. */
export const makeRunTexts = Effect.map(PgClient.PgClient, (sql) => {
  const ofRun = Effect.fnUntraced(function* ({ finder, isDryRun, runId }: RunErasure) {
    const rows = yield* sql<RunTextRow>`
      SELECT metadata::text AS metadata, tags, error_message, scenario_ref, environment, source_ref, source_kind,
             policy_version, idempotency_key, runtime_session_id
      FROM runs WHERE id = ${runId}::uuid`
    const scrubber = makeScrubber(finder, KEEP_OF_RUN)
    let hasOtherTags = false
    const [changed] = scrubber.changed(rows, (row) => {
      const tags = row.tags.filter((tag) => scrubber.text(tag) !== "")
      hasOtherTags = tags.length < row.tags.length
      return { ...row, tags, metadata: scrubber.json(row.metadata), error_message: scrubber.text(row.error_message) }
    })
    if (changed !== undefined && !isDryRun) {
      const { environment, error_message, metadata, policy_version, scenario_ref, source_ref, tags } = changed
      const searched = searchTextOf({
        ...{ id: runId, tags, scenarioRef: scenario_ref ?? undefined, environment: environment ?? undefined },
        ...{ sourceRef: source_ref ?? undefined, policyVersion: policy_version ?? undefined }
      })
      yield* sql`
        UPDATE runs SET metadata = ${metadata}::text::json, error_message = ${error_message}, tags = ${tags}::text[],
                        search_text = CASE WHEN ${hasOtherTags} THEN fold_text(${searched}::text) ELSE search_text END
        WHERE id = ${runId}::uuid`
    }
    const [row] = rows
    const remains = KEPT_COLUMNS.flatMap(([column, name]) =>
      finder(row?.[column] ?? "") ? [{ of: "run", pointer: `/${name}`, why: "runs are found by it" }] : []
    )
    const found = foundRows("run", changed === undefined ? 0 : 1, scrubber.kept())
    return { ...found, remains: [...found.remains, ...remains] }
  })

  const artifactsOf = (runId: string) => sql<ArtifactRow>`
    SELECT id::text AS id, label, uri, inline::text AS inline FROM artifacts WHERE run_id = ${runId}::uuid`

  /** Artifacts whose content has the text; the digest of the content is erased with it. */
  const artifactsWith = ({ finder, runId }: Pick<RunErasure, "finder" | "runId">) =>
    Effect.map(artifactsOf(runId), (rows) => {
      const scrubber = makeScrubber(finder, NOTHING_KEPT)
      return new Set(
        scrubber.changed(rows, (row) => ({ ...row, inline: scrubber.json(row.inline) })).map(({ id }) => id)
      )
    })

  /** An artifact loses what its event loses, so that both stay equal; its other copies of a text are named. */
  const ofArtifacts = Effect.fnUntraced(function* ({ finder, isDryRun, runId }: RunErasure, erased: ErasedArtifacts) {
    const rows = yield* artifactsOf(runId)
    const scrubber = makeScrubber(finder, NOTHING_KEPT)
    const changed: Array<ArtifactRow> = []
    const remains: Array<RemainingText> = []
    for (const row of rows) {
      const lost = erased.get(row.id) ?? NOTHING_KEPT
      const inline = lost.has("/data/contentSha256") ? scrubber.json(row.inline) : row.inline
      const after = {
        id: row.id,
        label: lost.has("/data/label") ? "" : row.label,
        uri: lost.has("/data/uri") ? null : row.uri,
        // The digest of a content that has no text goes with all of it.
        inline: inline === row.inline && lost.has("/data/contentSha256") ? null : inline
      }
      if (lost.size > 0) changed.push(after)
      if (isFoundIn(finder, [after.label, after.uri, after.inline]))
        remains.push({ of: "artifact", id: row.id, why: COPY })
    }
    if (changed.length > 0 && !isDryRun) {
      yield* sql`
        UPDATE artifacts a SET label = c.label, uri = c.uri, inline = c.inline
        FROM ${unnestRows(sql, changed, { id: "uuid", label: "text", uri: "text", inline: "json" })} AS c
        WHERE a.id = c.id`
    }
    return { ...foundRows("artifact", changed.length), remains }
  })

  const ofMessages = Effect.fnUntraced(function* ({ finder, isDryRun, runId }: RunErasure) {
    const rows = yield* sql<MessageRow>`
      SELECT message_id AS id, message::text AS message FROM outbound_messages WHERE run_id = ${runId}::uuid`
    const scrubber = makeScrubber(finder, KEEP_OF_MESSAGE)
    const changed = scrubber.changed(rows, ({ id, message }) => ({ id, message: scrubber.json(message) }))
    if (changed.length > 0 && !isDryRun) {
      yield* sql`
        UPDATE outbound_messages m SET message = c.message
        FROM ${unnestRows(sql, changed, { id: "text", message: "json" })} AS c
        WHERE m.run_id = ${runId}::uuid AND m.message_id = c.id`
    }
    return foundRows("message", changed.length, scrubber.kept())
  })

  /** Ended runs are changes for the archive: their row in its files is written again. */
  const noteChange = (runId: string) =>
    sql`SELECT note_archive_change('runs', id) FROM runs WHERE id = ${runId}::uuid AND ended_at IS NOT NULL`

  const erase = Effect.fnUntraced(function* (erasure: RunErasure, artifacts: ErasedArtifacts) {
    const found: ReadonlyArray<FoundRows> = [
      yield* ofRun(erasure),
      yield* ofArtifacts(erasure, artifacts),
      yield* ofMessages(erasure)
    ]
    if (!erasure.isDryRun) yield* noteChange(erasure.runId)
    return togetherFound(found)
  })
  return { artifactsWith, erase } as const
})

export type RunTexts = Effect.Success<typeof makeRunTexts>

/** The erased members of the events of artifacts, by the ids of the artifacts. */
export type ErasedArtifacts = ReadonlyMap<string, ReadonlySet<string>>

const COPY = "it has the same text; name the members of its event to erase it"

const NOTHING_KEPT: ReadonlySet<string> = new Set()
