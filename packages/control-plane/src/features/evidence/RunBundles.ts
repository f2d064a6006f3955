import type { EvidenceOptions } from "@runplane/api"
import { type RunId, type Seal, scenarioOfRecord } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { ArtifactRepository } from "../../event-log/runs/ArtifactRepository.ts"
import { RunErased, RunGone } from "../../event-log/runs/RunGone.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { RunErasures } from "../../event-log/seal/RunErasures.ts"
import { RunSeals } from "../../event-log/seal/RunSeals.ts"
import { MarkAppendices } from "../../marks/MarkAppendices.ts"
import { Marks } from "../../marks/Marks.ts"
import { EvidenceParts } from "../../platform/http/EvidenceParts.ts"
import { type ExportHead, ExportRepository } from "../../queries/exports/ExportRepository.ts"
import { type HashedFile, hashed, type ReadFailure } from "./BundleFiles.ts"
import { gapCounts, type RunEntry } from "./Manifest.ts"
import type { RetentionReport } from "./RetentionReport.ts"
import { makeRunAudit } from "./RunAudit.ts"
import { type EvidenceRows, filesOfRun } from "./RunFiles.ts"
import { makeRunReader } from "./RunReader.ts"

/** Most marks that are read of a run which only files have; the bounds of a run's marks are below it. */
const MOST_MARKS = 1_000_000

/** Reads of a run from which something is erased meanwhile, again and again. */
const MOST_TRIES = 5

/** A run at one moment: its head, and the seal over exactly its events. */
export interface FoundRun {
  readonly head: ExportHead
  readonly seal: Seal | "open" | "damaged"
}

type InTurn = <A, E>(read: Effect.Effect<A, E>) => Effect.Effect<A, E>

export interface RunBundleOptions extends EvidenceOptions {
  readonly folder: string
  readonly retention: RetentionReport
}

/** Reads the files of runs for bundles. */
export const makeRunBundles = Effect.gen(function* () {
  const artifacts = yield* ArtifactRepository
  const appendices = yield* MarkAppendices
  const audit = yield* makeRunAudit
  const erasures = yield* RunErasures
  const events = yield* EventRepository
  const exports = yield* ExportRepository
  const marks = yield* Marks
  const parts = yield* EvidenceParts
  const runs = yield* RunRepository
  const seals = yield* RunSeals
  const readRun = yield* makeRunReader

  const find = Effect.fn("Evidence.find")(function* (
    reference: string
  ): Effect.fn.Return<FoundRun | undefined, SqlError> {
    const runId = yield* runs.resolve(reference)
    if (runId === undefined) return undefined
    const sealed = yield* seals.sealed(runId)
    const head = yield* exports.head(runId)
    if (head === undefined || sealed === undefined) return undefined
    // A seal of other events is not the seal of this bundle.
    const isOfHead = typeof sealed === "object" && sealed.events === head.canonicalEvents
    return { head, seal: isOfHead || typeof sealed === "string" ? sealed : (head.seal ?? "open") }
  })

  const marksOf = Effect.fnUntraced(function* (runId: RunId, isCold: boolean) {
    const proven = isCold ? undefined : yield* appendices.text(runId)
    if (proven !== undefined) return { text: proven, isProven: true }
    if (!isCold) return undefined
    const query = { history: true, limit: MOST_MARKS, offset: 0 }
    const { text } = yield* Effect.catchTag(marks.list(runId, query), "NotFound", () => Effect.succeed({ text: "" }))
    return text === "" || text.startsWith('{"data":[]') ? undefined : { text, isProven: false }
  })

  const rowsOf = (isCold: boolean, inTurn: InTurn, added: ReadonlySet<string>): EvidenceRows => ({
    added,
    events: (...of) => inTurn(Effect.map(events.salted(...of), (slice) => slice.events)),
    frames: (...of) => inTurn(exports.rawEvents(...of)),
    artifacts: (...of) => inTurn(artifacts.page(...of)),
    audit: (runId) => audit.pages(audit.ofRun(runId), inTurn),
    policyHistory: (policyId) => audit.pages(audit.ofPolicy(policyId), inTurn),
    marks: (runId) => inTurn(marksOf(runId, isCold)),
    parts
  })

  const readOnce = Effect.fnUntraced(function* (
    { head, seal }: FoundRun,
    { folder, retention, ...options }: RunBundleOptions,
    inTurn: InTurn
  ): Effect.fn.Return<{ readonly entry: RunEntry; readonly files: ReadonlyArray<HashedFile> }, ReadFailure> {
    const { record } = head.run
    const isCold = record.storage === "archive"
    const { artifacts: added, evidence } = yield* readRun(
      {
        ...{ runId: record.id, lastSeq: record.lastEventSeq, events: head.canonicalEvents },
        scenario: scenarioOfRecord(record)
      },
      inTurn
    )
    const made = yield* filesOfRun(rowsOf(isCold, inTurn, added), { evidence, head, options, retention, seal })
    const files = [
      ...(yield* Effect.forEach(made.files, (file) => hashed({ ...file, name: `${folder}${file.name}` }))),
      ...(yield* made.together(folder)).flat()
    ]
    // The files are those of the head, unless something was erased since.
    const now = yield* inTurn(erasures.appendix(record.id))
    if (now?.head.head !== head.erasures?.head.head) return yield* new RunErased({ runId: record.id })
    const frames = files.find(({ name }) => name === `${folder}frames.jsonl`)
    const entry: RunEntry = {
      ...{ runId: record.id, folder, status: record.status, storage: record.storage ?? "database" },
      ...{ events: head.canonicalEvents, chain: made.chain, erasures: head.erasures?.entries.length ?? 0 },
      frames: frames === undefined ? null : frames.lines,
      sealed: typeof seal === "object",
      gaps: gapCounts(evidence.gaps),
      empty: files.filter(({ bytes }) => bytes === 0).map(({ name }) => name.slice(folder.length)),
      leftOut: made.leftOut
    }
    return { entry, files }
  })

  /** Reads a run again from which something was erased meanwhile. */
  const read = Effect.fn("Evidence.read")((runId: RunId, options: RunBundleOptions, inTurn: InTurn) =>
    Effect.flatMap(inTurn(find(runId)), (found) =>
      found === undefined ? Effect.fail(new RunGone({ runId })) : readOnce(found, options, inTurn)
    ).pipe(Effect.retry({ times: MOST_TRIES - 1, while: ({ _tag }) => _tag === "RunErased" }))
  )

  return { find, read }
})
