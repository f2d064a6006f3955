import {
  type BadRequest,
  badRequest,
  controlPlaneError,
  type EvidenceOfRunsQuery,
  type EvidenceOptions,
  MAX_EVIDENCE_RUNS,
  type NotFound,
  runNotFound,
  type Unavailable
} from "@runplane/api"
import type { RunId } from "@runplane/domain"
import { makeLongTurns, RequestFacts, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { RunSeals } from "../../event-log/seal/RunSeals.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { isoNow } from "../../platform/IsoNow.ts"
import type { SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { Seals } from "../../queries/seals/Seals.ts"
import {
  type BundleFailure,
  BundleTooLarge,
  documentText,
  fitsOneZip,
  type HashedFile,
  hashedBytes,
  hashedText,
  makeZipWriter
} from "./BundleFiles.ts"
import { ERASABLE_JSON, PASSKEYS_PY, VERIFY_MD, VERIFY_PY } from "./gen/EvidenceTexts.ts"
import { type ManifestFacts, manifestSignature, manifestText, type RunEntry } from "./Manifest.ts"
import { makeRetentionReport } from "./RetentionReport.ts"
import { EVIDENCE_ACTION } from "./RunAudit.ts"
import { makeRunBundles } from "./RunBundles.ts"
import { makeRunSelection } from "./RunSelection.ts"
import { TimeStamps } from "./TimeStamps.ts"

/** Bundles of one caller that are read at a time. */
const READ_AT_ONCE = 2

/** A bundle as it is sent. */
export interface Bundle {
  readonly content: Stream.Stream<Uint8Array, BundleFailure>
  readonly fileName: string
}

/** Evidence bundles (docs/reference/evidence.md): stored zips that are read as the client receives them. */
export class Evidence extends Context.Service<
  Evidence,
  {
    readonly ofRun: (
      reference: string,
      options: EvidenceOptions,
      caller: Caller
    ) => Effect.Effect<Bundle, BadRequest | NotFound | SqlError | TurnRefused | Unavailable>
    /** A folder for each run that a search finds. Fails before the first byte for no run, and for too many. */
    readonly ofRuns: (
      query: EvidenceOfRunsQuery,
      caller: Caller
    ) => Effect.Effect<Bundle, BadRequest | SqlError | SearchFailure>
  }
>()("runplane/control-plane/Evidence") {
  static readonly layer = Layer.effect(
    Evidence,
    Effect.gen(function* () {
      const audit = yield* AuditTrail
      const retention = yield* makeRetentionReport
      const bundles = yield* makeRunBundles
      const seals = yield* Seals
      const select = yield* makeRunSelection
      const { signer } = yield* RunSeals
      const stamps = yield* TimeStamps
      const turns = makeLongTurns("evidence", READ_AT_ONCE)

      /** The files about the bundle itself, over all files of its runs. */
      const filesOfBundle = Effect.fnUntraced(function* (
        facts: Omit<ManifestFacts, "files" | "madeAt" | "authority">,
        files: ManifestFacts["files"]
      ) {
        const covered = [
          hashedText("VERIFY.md", VERIFY_MD),
          hashedText("erasable.json", ERASABLE_JSON),
          hashedText("keys.json", documentText(yield* seals.keys)),
          hashedText("passkeys.py", PASSKEYS_PY),
          hashedText("verify.py", VERIFY_PY)
        ]
        const { authority } = stamps
        const text = manifestText({ ...facts, madeAt: yield* isoNow, authority, files: [...files, ...covered] })
        const manifest = hashedText("manifest.json", text)
        const stamped = yield* stamps.stamp(Buffer.from(manifest.sha256, "hex"))
        const anchor =
          "none" in stamped
            ? hashedText("anchor/none.txt", `none: ${stamped.none}\n`)
            : hashedBytes("anchor/manifest.tsr", stamped.stamp)
        const signature = hashedText("manifest.sig", manifestSignature(manifest.sha256, signer))
        return inOrder([...covered, anchor, manifest, signature])
      })

      const ofRun = Effect.fn("Evidence.ofRun")(function* (
        reference: string,
        options: EvidenceOptions,
        caller: Caller
      ) {
        const found = yield* turns.run(bundles.find(reference))
        if (found === undefined) return yield* runNotFound(reference)
        const inTurn = inTurnOf(yield* RequestFacts)
        const runId = found.head.run.record.id
        const read = bundles.read(runId, { ...options, folder: "", retention: yield* retention }, inTurn)
        const { entry, files } = yield* Effect.catchTags(read, {
          RunGone: () => Effect.fail(runNotFound(reference)),
          RunErased: ({ message }) => Effect.fail(controlPlaneError("SERVICE_UNAVAILABLE", message))
        })
        const last = yield* filesOfBundle({ scope: { run: runId }, options, caller, runs: [entry] }, files)
        const all = inOrder([...files, ...last])
        if (!fitsOneZip(all)) return yield* badRequest(new BundleTooLarge().message)
        yield* audit.recordDone({
          ...{ caller, action: EVIDENCE_ACTION, resource: "run", resourceId: runId, details: { ...options } },
          at: yield* isoNow
        })
        const zip = makeZipWriter()
        const content = Stream.concat(Stream.flatMap(Stream.fromIterable(all), zip.add), zip.end())
        return { content, fileName: `run-${runId}.evidence.zip` }
      })

      const inTurnOf =
        (facts: typeof RequestFacts.Service) =>
        <A, E>(read: Effect.Effect<A, E>): Effect.Effect<A, E> =>
          readFor({ facts })(turns.goOn(read))

      const ofRuns = Effect.fn("Evidence.ofRuns")(function* (query: EvidenceOfRunsQuery, caller: Caller) {
        const { q, ...options } = query
        const runIds = yield* select(q, MAX_EVIDENCE_RUNS + 1)
        if (runIds.length > MAX_EVIDENCE_RUNS) {
          return yield* badRequest(`q finds more than ${MAX_EVIDENCE_RUNS} runs, the most of one bundle`)
        }
        if (runIds.length === 0) return yield* badRequest("q finds no run")
        const inTurn = inTurnOf(yield* RequestFacts)
        const report = yield* retention
        yield* audit.recordDone({
          ...{ caller, action: EVIDENCE_ACTION, resource: "search", resourceId: q },
          details: { runs: runIds.length, ...options },
          at: yield* isoNow
        })
        const zip = makeZipWriter()
        const runs: Array<RunEntry> = []
        const ofOne = Effect.fnUntraced(function* (runId: RunId, number: number) {
          // Sorted before all that is about the bundle, so that a run is sent before the next one is read.
          const folder = `${String(number + 1).padStart(4, "0")}-${runId}/`
          const { entry, files } = yield* bundles.read(runId, { ...options, folder, retention: report }, inTurn)
          runs.push(entry)
          return Stream.flatMap(Stream.fromIterable(inOrder(files)), zip.add)
        })
        const ofAll = Stream.flatMap(Stream.zipWithIndex(Stream.fromIterable(runIds)), ([runId, number]) =>
          Stream.unwrap(ofOne(runId, number))
        )
        const ofBundle = Stream.unwrap(
          Effect.suspend(() => filesOfBundle({ scope: { query: q }, options, caller, runs }, zip.sent)).pipe(
            Effect.map((files) => Stream.flatMap(Stream.fromIterable(files), zip.add))
          )
        )
        return {
          content: ofAll.pipe(Stream.concat(ofBundle), Stream.concat(zip.end())),
          fileName: "runs.evidence.zip"
        }
      })
      return Evidence.of({ ofRun, ofRuns })
    })
  ).pipe(Layer.provide(TimeStamps.layer))
}

/** The order of names, by their code units. */
const inOrder = (files: ReadonlyArray<HashedFile>) =>
  files.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
