import { createHash } from "node:crypto"
import { JSON_LINES_CONTENT_TYPE } from "@runplane/api"
import {
  chainVersionOf,
  digestedNext,
  type ErasureAppendix,
  eventBytes,
  exportEnds,
  exportedLine,
  linksOf,
  type MemberSalts,
  makeExportDigest,
  type RunId,
  type RunStatus,
  type Signer
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import type { SaltedEvent } from "../../event-log/EventRepository.ts"
import {
  ARTIFACTS_PER_READ,
  type ArtifactPosition,
  type ArtifactText
} from "../../event-log/runs/ArtifactRepository.ts"
import { endOfReading, RunErased, RunGone } from "../../event-log/runs/RunGone.ts"
import { publicRun } from "../../event-log/runs/RunRow.ts"
import type { BoundedRows } from "../../platform/postgres/BoundedRows.ts"
import { sha256 } from "../../platform/Sha256.ts"
import type { ExportHead, RawEventText } from "./ExportRepository.ts"

/** Events of one read, fewer when they are large: the memory of an export of any length. */
export const EVENTS_PER_EXPORT_READ = 500

/** Text that is made as the client receives it. */
export type ExportText = Stream.Stream<string, SqlError | RunErased | RunGone>

/** The rows of an export; each read is one page, and the page after the last one is empty. */
export interface ExportRows {
  readonly artifacts: (
    runId: RunId,
    after: ArtifactPosition | undefined,
    limit: number
  ) => Effect.Effect<BoundedRows<ArtifactText>, SqlError>
  readonly canonicalEvents: (
    runId: RunId,
    afterSeq: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<SaltedEvent>, SqlError>
  readonly rawEvents: (
    runId: RunId,
    afterSeq: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<RawEventText>, SqlError>
  /** The JSON of the appendix of marks; undefined for a run without marks. */
  readonly marks: (runId: RunId) => Effect.Effect<string | undefined, SqlError>
  /** The erasures of the run as they are now. */
  readonly erasures: (runId: RunId) => Effect.Effect<ErasureAppendix | undefined, SqlError>
  /** The status of the run; undefined when it was deleted. */
  readonly status: (runId: RunId) => Effect.Effect<RunStatus | undefined, SqlError>
}

export interface ExportOptions {
  readonly includeCanonical: boolean
  readonly includeRaw: boolean
  readonly includeMarks: boolean
  readonly eventLimit: number
}

export interface RunExport {
  readonly head: ExportHead
  readonly exportedAt: string
  readonly options: ExportOptions
  /** Signs the export, which is unsigned without it. */
  readonly signer: Signer | undefined
}

/** The JSON bundle of an export (docs/reference/runs.md#export). */
export const bundleText = (rows: ExportRows, exported: RunExport): ExportText =>
  proven("json", rows, exported, (chained) => {
    const { exportedAt, head, options } = exported
    return Stream.make(`{${headText(head)},"artifacts":[`).pipe(
      Stream.concat(listed(artifacts(rows, head))),
      Stream.concat(marks(rows, head, options)),
      Stream.concat(Stream.make(`,"canonicalEvents":[`)),
      Stream.concat(listed(chained.events(canonicalEvents(rows, head, options)))),
      Stream.concat(Stream.make(`],"rawEvents":[`)),
      Stream.concat(listed(chained.frames(rawEvents(rows, head, options)))),
      Stream.concat(Stream.make(`],"exportedAt":"${exportedAt}"`))
    )
  })

/** The export as JSON lines: the head, each event, and the proof. */
export const linesText = (rows: ExportRows, exported: RunExport): ExportText =>
  proven("jsonl", rows, exported, (chained) => {
    const { exportedAt, head, options } = exported
    const events = chained.events(canonicalEvents(rows, head, options))
    const frames = chained.frames(rawEvents(rows, head, options))
    return Stream.make(`{"type":"header",${headText(head)},"artifacts":[`).pipe(
      Stream.concat(listed(artifacts(rows, head))),
      Stream.concat(marks(rows, head, options)),
      Stream.concat(Stream.make(`,"exportedAt":"${exportedAt}"}\n`)),
      Stream.concat(Stream.map(events, (page) => page.map(canonicalLine).join(""))),
      Stream.concat(Stream.map(frames, (page) => page.map(rawLine).join("")))
    )
  })

type Pages<A, E> = Stream.Stream<ReadonlyArray<A>, E>

/** Notes what proves the pages that pass through. */
interface Chained {
  readonly events: <E>(pages: Pages<SaltedEvent, E>) => Pages<SaltedEvent, E>
  readonly frames: <E>(pages: Pages<RawEventText, E>) => Pages<RawEventText, E>
}

/**
 * Appends the proof of an export (docs/reference/seal-format.md#exports): the seal, the heads of the hash chain, the
 * salts and the erasures, and the digest of all bytes before it. Its memory is one page, and 100 characters an event.
 */
const proven = (
  format: keyof typeof exportEnds,
  rows: ExportRows,
  { head: { chain, erasures, run, seal }, signer }: RunExport,
  bodyOf: (chained: Chained) => ExportText
): ExportText =>
  Stream.suspend(() => {
    const ends = exportEnds[format]
    const runId = run.record.id
    const hash = createHash("sha256")
    const heads: Array<string> = []
    const salts: { readonly events: Array<MemberSalts>; readonly frames: Array<MemberSalts> } = {
      events: [],
      frames: []
    }
    const version = seal === undefined ? chain : chainVersionOf(seal)
    const { next, start } = linksOf(sha256, runId, version, erasures?.entries ?? [])
    let head = start
    const chained: Chained = {
      events: (pages) =>
        Stream.map(pages, (page) => {
          for (const { index, json, salts: own } of page) {
            const event = eventBytes(json)
            const linked = next(head, event, index, version === 1 ? undefined : own)
            // An event that does not fit has a head that is wrong: a checker names the event.
            head = typeof linked === "string" ? digestedNext(sha256, head, event) : linked
            heads.push(Hex.encode(head))
            // One for each event, so that a checker names the one without salts.
            salts.events.push(own ?? {})
          }
          return page
        }),
      frames: (pages) =>
        Stream.map(pages, (page) => {
          for (const { salts: own } of page) salts.frames.push(own ?? {})
          return page
        })
    }
    /** The texts are those of the head of the export, unless something was erased since. */
    const proof = Effect.gen(function* () {
      const now = yield* rows.erasures(runId)
      if (now?.head.head !== erasures?.head.head) return yield* new RunErased({ runId })
      const text = erasures && JSON.stringify(erasures)
      return ends.proof({ seal, heads, salts: version === 1 ? undefined : salts, erasures: text })
    })
    const covered = bodyOf(chained).pipe(
      Stream.concat(Stream.fromEffect(proof)),
      Stream.map((text) => {
        hash.update(text, "utf8")
        return text
      })
    )
    return Stream.concat(
      covered,
      Stream.suspend(() => Stream.make(ends.digest(makeExportDigest(hash.digest(), signer))))
    )
  })

export const exportTexts = {
  json: { text: bundleText, contentType: "application/json" },
  jsonl: { text: linesText, contentType: JSON_LINES_CONTENT_TYPE }
} as const

const headText = ({ metrics, projection, run, session }: ExportHead): string => {
  const shown = publicRun(run)
  const exported = {
    id: shown.id,
    status: shown.status,
    runtimeKind: shown.runtimeKind,
    runtimeVersion: shown.runtimeVersion,
    runtimeSessionId: shown.runtimeSessionId,
    traceId: shown.traceId,
    createdAt: shown.createdAt,
    startedAt: shown.startedAt,
    endedAt: shown.endedAt,
    tags: shown.tags,
    archivedAt: shown.archivedAt,
    source: shown.source,
    metadata: shown.metadata,
    storage: shown.storage
  }
  const texts = [session, projection, metrics].map((text) => text ?? "null")
  return `"run":${JSON.stringify(exported)},"session":${texts[0]},"projection":${texts[1]},"metrics":${texts[2]}`
}

interface Row {
  readonly json: string
}

/** The elements of a JSON array in pages. */
const listed = <E>(pages: Stream.Stream<ReadonlyArray<Row>, E>): Stream.Stream<string, E> =>
  Stream.map(Stream.zipWithIndex(pages), ([page, number]) => {
    const text = page.map((row) => row.json).join(",")
    return number === 0 ? text : `,${text}`
  })

/** The number of rows is unknown, so the run must exist after the last page. */
const artifacts = (rows: ExportRows, { run: { record } }: ExportHead): Pages<ArtifactText, SqlError | RunGone> =>
  Stream.concat(
    Stream.paginate<ArtifactPosition | undefined, ReadonlyArray<ArtifactText>, SqlError>(undefined, (after) =>
      Effect.map(rows.artifacts(record.id, after, ARTIFACTS_PER_READ), ({ isCut, rows: page }) => [
        page.length === 0 ? [] : [page],
        !isCut && page.length < ARTIFACTS_PER_READ ? Option.none() : Option.fromUndefinedOr(page.at(-1))
      ])
    ),
    Stream.drain(Stream.fromEffect(endOfReading(record.id, rows.status(record.id))))
  )

/** The end of the list of artifacts, and the marks; a run without marks has no such member. */
const marks = (rows: ExportRows, { run: { record } }: ExportHead, { includeMarks }: ExportOptions) =>
  Stream.fromEffect(
    Effect.map(includeMarks ? rows.marks(record.id) : Effect.undefined, (text) =>
      text === undefined ? "]" : `],"marks":${text}`
    )
  )

const canonicalEvents = (rows: ExportRows, { canonicalEvents, run }: ExportHead, options: ExportOptions) =>
  counted(
    run.record.id,
    options.includeCanonical ? Math.min(canonicalEvents, options.eventLimit) : 0,
    rows.canonicalEvents
  )

const rawEvents = (rows: ExportRows, { rawEvents, run }: ExportHead, options: ExportOptions) =>
  counted(run.record.id, options.includeRaw ? Math.min(rawEvents, options.eventLimit) : 0, rows.rawEvents)

/**
 * The first rows of a run in pages that are read as the client receives them. The head of the export has their number,
 * because indexes have no gaps; fewer rows prove that the run was deleted.
 */
const counted = <A extends { readonly seq: number }>(
  runId: RunId,
  count: number,
  read: (runId: RunId, afterSeq: number, limit: number) => Effect.Effect<ReadonlyArray<A>, SqlError>
): Stream.Stream<ReadonlyArray<A>, SqlError | RunGone> => {
  if (count === 0) return Stream.empty
  return Stream.paginate({ afterSeq: 0, left: count }, ({ afterSeq, left }) => {
    const wanted = Math.min(left, EVENTS_PER_EXPORT_READ)
    return Effect.flatMap(read(runId, afterSeq, wanted), (page) => {
      const last = page.at(-1)
      if (last === undefined) return Effect.fail(new RunGone({ runId }))
      const next = left > page.length ? Option.some({ afterSeq: last.seq, left: left - page.length }) : Option.none()
      return Effect.succeed([[page], next] as const)
    })
  })
}

const canonicalLine = ({ json, seq }: SaltedEvent): string => {
  const line = exportedLine(json)
  if (line === undefined) throw new Error(`the stored event ${seq} is not one`)
  return `${line}\n`
}

const rawLine = ({ json }: RawEventText): string => `{"type":"raw_event",${json.slice(1)}\n`
