import type { AuditEntry, EvidenceOptions } from "@runplane/api"
import {
  arrayAt,
  type ChainVersion,
  chainVersionOf,
  digestedNext,
  eventBytes,
  isJsonObject,
  type JsonObject,
  linksOf,
  type MemberSalts,
  objectAt,
  parseJsonObject,
  type RunEvidence,
  type RunId,
  type Seal,
  textAt
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { dump } from "js-yaml"
import type { SaltedEvent } from "../../event-log/EventRepository.ts"
import type { ArtifactPosition, ArtifactText } from "../../event-log/runs/ArtifactRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { publicRun } from "../../event-log/runs/RunRow.ts"
import type { EvidencePart } from "../../platform/http/EvidenceParts.ts"
import type { BoundedRows } from "../../platform/postgres/BoundedRows.ts"
import { sha256 } from "../../platform/Sha256.ts"
import type { ExportHead, RawEventText } from "../../queries/exports/ExportRepository.ts"
import {
  type BundleFile,
  type HashedFile,
  hashedTogether,
  jsonFile,
  KEPT_PROOF_BYTES,
  type ReadFailure,
  textFile
} from "./BundleFiles.ts"
import type { RetentionReport } from "./RetentionReport.ts"

/** Rows of one read; fewer when they are large. */
const PER_READ = 500

/** Entries of commands over a run that oversight lists, the first ones. */
const MAX_CONTROLS = 1_000

/** Commands of callers that change what a session does. */
const CONTROLS = new Set(["run.abandon", "run.cancel", "run.create", "run.resume", "run.suspend"])

/** The rows of a bundle; each read is one page, and the page after the last one is empty. */
export interface EvidenceRows {
  /** The ids of the artifacts that the events of the bundle have. */
  readonly added: ReadonlySet<string>
  readonly events: (
    runId: RunId,
    afterSeq: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<SaltedEvent>, SqlError>
  readonly frames: (
    runId: RunId,
    afterSeq: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<RawEventText>, SqlError>
  readonly artifacts: (
    runId: RunId,
    after: ArtifactPosition | undefined,
    limit: number
  ) => Effect.Effect<BoundedRows<ArtifactText>, SqlError>
  readonly audit: (runId: RunId) => Stream.Stream<ReadonlyArray<AuditEntry>, SqlError>
  readonly policyHistory: (policyId: string) => Stream.Stream<ReadonlyArray<AuditEntry>, SqlError>
  /** The JSON of the marks with their chain, or of a run that only files have without it; undefined for none. */
  readonly marks: (
    runId: RunId
  ) => Effect.Effect<{ readonly text: string; readonly isProven: boolean } | undefined, SqlError>
  readonly parts: ReadonlyArray<EvidencePart>
}

/** What a bundle does not have, and why. */
export interface LeftOut {
  readonly what: string
  readonly why: string
}

/** The files of a run, and what its manifest says of them. */
export interface FilesOfRun {
  readonly chain: ChainVersion
  readonly files: ReadonlyArray<BundleFile>
  /** The events and the frames with what proves them, of which each is read once for all of its files. */
  readonly together: (
    folder: string
  ) => Effect.Effect<readonly [ReadonlyArray<HashedFile>, ReadonlyArray<HashedFile>], ReadFailure>
  readonly leftOut: ReadonlyArray<LeftOut>
}

export interface RunSubject {
  readonly head: ExportHead
  readonly seal: Seal | "open" | "damaged"
  readonly evidence: RunEvidence
  readonly retention: RetentionReport
  readonly options: EvidenceOptions
}

/** All files of a run, without the folder that they are in. */
export const filesOfRun = Effect.fnUntraced(function* (
  rows: EvidenceRows,
  { evidence, head, options, retention, seal }: RunSubject
): Effect.fn.Return<FilesOfRun, SqlError> {
  const { record } = head.run
  const runId = record.id
  const isCold = record.storage === "archive"
  const leftOut: Array<LeftOut> = []
  const omit = (what: string, why: string): ReadonlyArray<BundleFile> => {
    leftOut.push({ what, why })
    return []
  }
  const coldWhy = "the run has left the database, and the archive does not have them"

  const descriptor = objectAt(publicRun(head.run).metadata, "executionRequest")
  const controls = yield* takeFirst(rows.audit(runId), ({ action }) => CONTROLS.has(action))
  const { policyVersion } = evidence.policy
  const history = yield* takeFirst(
    policyVersion === null ? Stream.empty : rows.policyHistory(policyVersion),
    () => true
  )
  const receipt = yield* receiptOf(rows, runId)
  const marks = options.includeMarks ? yield* rows.marks(runId) : undefined
  if (marks?.isProven === false) omit("the chain of marks", coldWhy)
  omit(
    "the scenario's own text, agents' manifests and versions, and A2A cards",
    "the control plane does not store them: they are with the launch service, where one started the run"
  )

  const chain = typeof seal === "object" ? chainVersionOf(seal) : head.chain
  const hasFrames = !isCold && options.includeRaw
  const files: ReadonlyArray<BundleFile> = [
    ...rows.parts.map((part) => ({ name: part.file, content: linesOf(part.lines(runId)) })),
    ...[{ name: "artifacts.jsonl", content: linesOf(artifactsOf(rows, runId)) }],
    {
      name: "audit.jsonl",
      content: linesOf(Stream.map(rows.audit(runId), (entries) => entries.map((entry) => JSON.stringify(entry))))
    },
    ...(head.erasures === undefined
      ? omit("erasures.json", "nothing was erased from the run")
      : [textFile("erasures.json", `${JSON.stringify(head.erasures)}\n`)]),
    jsonFile("forecast.json", { atBallots: evidence.forecasts, omitted: evidence.forecastsOmitted }),
    ...(hasFrames ? [] : omit("frames.jsonl", isCold ? coldWhy : "the request left the frames out (includeRaw=false)")),
    jsonFile("gaps.json", evidence.gaps),
    ...(marks !== undefined
      ? [textFile("marks.json", `${marks.text}\n`)]
      : omit(
          "marks.json",
          options.includeMarks ? "the run has no marks" : "the request left them out (includeMarks=false)"
        )),
    jsonFile("models.json", evidence.models),
    jsonFile("oversight.json", {
      ...evidence.oversight,
      controls: controls.found.map(({ action, actor, actorName, createdAt, details }) => ({
        ...{ action, actor, ...(actorName !== undefined && { actorName }), at: createdAt },
        outcome: details["outcome"] ?? null
      })),
      controlsOmitted: controls.omitted
    }),
    { name: "people.jsonl", content: linesOf(answersOf(rows, runId)) },
    jsonFile("policy.json", { ...evidence.policy, history: history.found, historyOmitted: history.omitted }),
    ...receiptFiles(receipt, omit),
    jsonFile("retention.json", {
      ...retention,
      run: {
        ...{ createdAt: record.createdAt, endedAt: record.endedAt ?? null, storage: record.storage ?? "database" },
        erasedMembers: head.erasures?.entries.length ?? 0
      }
    }),
    textFile("run.json", `${recordText(head)}\n`),
    ...(descriptor === undefined
      ? omit("scenario.yaml", "the run was discovered or ingested, so no descriptor was submitted")
      : [textFile("scenario.yaml", dump(descriptor, { lineWidth: -1, noRefs: true, sortKeys: true }))]),
    ...(chain === 1 ? omit("salts", "the chain of the run is of version 1, whose texts cannot be erased") : []),
    ...(typeof seal === "object"
      ? [jsonFile("seal.json", seal)]
      : omit(
          "seal.json",
          seal === "open"
            ? "the run has not ended"
            : "the log lacks events that its head counts, so it cannot be sealed"
        )),
    jsonFile("whatif.json", evidence.whatIf),
    textFile("why.md", evidence.why)
  ]
  if (isCold)
    omit("alerts and audit entries that retention deleted with the run", "they leave the database with the run")
  const salts = { lines: () => saltsOf, keep: KEPT_PROOF_BYTES }
  const together = (folder: string) =>
    Effect.all([
      hashedTogether(eventsOf(rows, head), [
        { name: `${folder}events.jsonl`, lines: () => textOf },
        { name: `${folder}heads.txt`, lines: () => headsOf(head, chain), keep: KEPT_PROOF_BYTES },
        ...(chain === 1 ? [] : [{ name: `${folder}salts/events.jsonl`, ...salts }])
      ]),
      hasFrames
        ? hashedTogether(framesOf(rows, head), [
            { name: `${folder}frames.jsonl`, lines: () => textOf },
            ...(chain === 1 ? [] : [{ name: `${folder}salts/frames.jsonl`, ...salts }])
          ])
        : Effect.succeed([])
    ])
  return { chain, files, together, leftOut }
})

const linesOf = <E extends ReadFailure>(pages: Stream.Stream<ReadonlyArray<string>, E>): BundleFile["content"] =>
  Stream.map(pages, (lines) => lines.map((line) => `${line}\n`).join(""))

const takeFirst = (
  pages: Stream.Stream<ReadonlyArray<AuditEntry>, SqlError>,
  isWanted: (entry: AuditEntry) => boolean
) =>
  Stream.runFold(
    pages,
    () => ({ found: [] as ReadonlyArray<AuditEntry>, omitted: 0 }),
    ({ found, omitted }, page) => {
      const wanted = page.filter(isWanted)
      const kept = wanted.slice(0, MAX_CONTROLS - found.length)
      return { found: [...found, ...kept], omitted: omitted + wanted.length - kept.length }
    }
  )

const recordText = ({ metrics, run, session }: ExportHead): string => {
  const { archivedAt, updatedAt: _, ...record } = publicRun(run)
  const shown = { ...record, ...(archivedAt !== undefined && { archivedAt }) }
  return `{"run":${JSON.stringify(shown)},"session":${session ?? "null"},"metrics":${metrics ?? "null"}}`
}

/** The first rows of a run, whose number the head has; fewer rows prove that the run was deleted. */
const counted = <A extends { readonly seq: number }>(
  runId: RunId,
  count: number,
  read: (runId: RunId, afterSeq: number, limit: number) => Effect.Effect<ReadonlyArray<A>, SqlError>
): Stream.Stream<ReadonlyArray<A>, SqlError | RunGone> =>
  Stream.paginate<{ readonly afterSeq: number; readonly left: number }, ReadonlyArray<A>, SqlError | RunGone>(
    { afterSeq: 0, left: count },
    ({ afterSeq, left }) => {
      if (left === 0) return Effect.succeed([[], Option.none()])
      return Effect.flatMap(read(runId, afterSeq, Math.min(left, PER_READ)), (page) => {
        const last = page.at(-1)
        if (last === undefined) return Effect.fail(new RunGone({ runId }))
        return Effect.succeed([[page], Option.some({ afterSeq: last.seq, left: left - page.length })])
      })
    }
  )

const textsOf = (page: ReadonlyArray<{ readonly json: string }>) => page.map(({ json }) => json)

const textOf = ({ json }: { readonly json: string }) => json

/** The seed, or the salts that remain after an erasure; an empty object without any, so that a verifier names it. */
const saltsOf = ({ salts }: { readonly salts: MemberSalts | undefined }) => JSON.stringify(salts ?? {})

const eventsOf = (rows: EvidenceRows, { canonicalEvents, run }: ExportHead) =>
  counted(run.record.id, canonicalEvents, rows.events)

const framesOf = (rows: EvidenceRows, { rawEvents, run }: ExportHead) => counted(run.record.id, rawEvents, rows.frames)

/** The head of the chain after each event, in their order. */
const headsOf = ({ erasures, run }: ExportHead, version: ChainVersion) => {
  const { next, start } = linksOf(sha256, run.record.id, version, erasures?.entries ?? [])
  let last = start
  return ({ index, json, salts }: SaltedEvent): string => {
    const event = eventBytes(json)
    const linked = next(last, event, index, version === 1 ? undefined : salts)
    // An event that does not fit has a wrong head, by which a verifier names it.
    last = typeof linked === "string" ? digestedNext(sha256, last, event) : linked
    return Hex.encode(last)
  }
}

const ARTIFACT_ID = /^\{"id":"([^"]*)"/

/** The artifacts that the events of the bundle have: a record of a person's answer may be stored while it is read. */
const artifactPages = (rows: EvidenceRows, runId: RunId) =>
  Stream.paginate<ArtifactPosition | undefined, ReadonlyArray<ArtifactText>, SqlError>(undefined, (after) =>
    Effect.map(rows.artifacts(runId, after, PER_READ), ({ isCut, rows: page, taken }) => {
      const last = page.at(-1)
      const added = page.filter(({ json }) => rows.added.has(ARTIFACT_ID.exec(json)?.[1] ?? ""))
      return [[added], last === undefined || (!isCut && taken < PER_READ) ? Option.none() : Option.some(last)]
    })
  )

const artifactsOf = (rows: EvidenceRows, runId: RunId) => Stream.map(artifactPages(rows, runId), textsOf)

/** The beginning of an artifact that says which person gave an answer. */
const ANSWER = /^\{"id":"[^"]*","runId":"[^"]*","kind":"people\.answer",/

/** The artifacts of answers, as the file of all artifacts has them. */
const answersOf = (rows: EvidenceRows, runId: RunId) =>
  Stream.map(artifactsOf(rows, runId), (lines) => lines.filter((line) => ANSWER.test(line)))

/** The receipt of the runtime; a text says why there is none. */
const receiptFiles = (
  receipt: FoundReceipt | string,
  omit: (what: string, why: string) => ReadonlyArray<BundleFile>
): ReadonlyArray<BundleFile> => {
  if (typeof receipt === "string") return omit("the receipt of the runtime", receipt)
  const { content, jws, keys } = receipt
  return [
    jsonFile("receipt.json", content),
    ...(jws.length === 0
      ? omit("receipt.jws", "the receipt has no JSON Web Signature")
      : [textFile("receipt.jws", jws.map((one) => `${one}\n`).join(""))]),
    ...(keys === undefined
      ? omit("receipt-keys.json", "the receipt was stored without keys")
      : [jsonFile("receipt-keys.json", keys)])
  ]
}

interface FoundReceipt {
  readonly content: JsonObject
  readonly jws: ReadonlyArray<string>
  readonly keys: JsonObject | undefined
}

/** The beginning of an artifact that holds a receipt. */
const RECEIPT = /^\{"id":"[^"]*","runId":"[^"]*","kind":"macp\.receipt",/

/** The last receipt of the runtime with its signatures and the keys that they name, or why there is none. */
const receiptOf = Effect.fnUntraced(function* (
  rows: EvidenceRows,
  runId: RunId
): Effect.fn.Return<FoundReceipt | string, SqlError> {
  const found = yield* Stream.runFold(
    artifactPages(rows, runId),
    (): string | undefined => undefined,
    (last, page) => page.findLast(({ json }) => RECEIPT.test(json))?.json ?? last
  )
  const artifact = found === undefined ? undefined : parseJsonObject(found)
  if (artifact === undefined) return "none was recorded"
  const content = objectAt(artifact, "inline") ?? {}
  const missing = textAt(content, "missing")
  if (missing !== undefined) return `the runtime gave none: ${missing}`
  const attestations = arrayAt(objectAt(content, "receipt") ?? {}, "attestations") ?? []
  const jws = attestations.flatMap((one) => (isJsonObject(one) ? (textAt(one, "jws") ?? []) : []))
  return { content, jws, keys: objectAt(content, "keys") }
})
