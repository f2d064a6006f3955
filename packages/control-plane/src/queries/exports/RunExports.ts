import { type NotFound, runNotFound } from "@runplane/api"
import { streamReadsAt } from "@runplane/database"
import { ControlPlaneSettings, makeFairTurns, RequestFacts, readSetting, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { ArtifactRepository } from "../../event-log/runs/ArtifactRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { RunErasures } from "../../event-log/seal/RunErasures.ts"
import { RunSeals } from "../../event-log/seal/RunSeals.ts"
import { MarkAppendices } from "../../marks/MarkAppendices.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { isoNow } from "../../platform/IsoNow.ts"
import { ExportRepository } from "./ExportRepository.ts"
import { bundleText, type ExportOptions, type ExportRows, type ExportText, exportTexts } from "./ExportText.ts"

/** The options of a batch export (docs/reference/runs.md#batch). */
const BATCH_EXPORT: ExportOptions = {
  includeCanonical: true,
  includeRaw: false,
  includeMarks: true,
  eventLimit: 10_000
}

/**
 * Exports runs (docs/reference/runs.md#export) as text that is read as the client receives it, one page in memory. The
 * head is read at one moment, and the events are those up to it, so they fold to the exported projection, also of an
 * open run.
 */
export class RunExports extends Context.Service<
  RunExports,
  {
    readonly one: (
      reference: string,
      format: keyof typeof exportTexts,
      options: ExportOptions,
      caller: Caller
    ) => Effect.Effect<ExportText, NotFound | SqlError | TurnRefused>
    /** A JSON array of bundles, in the given order. Fails before the first text when a run is unknown. */
    readonly many: (
      references: ReadonlyArray<string>,
      caller: Caller
    ) => Effect.Effect<ExportText, NotFound | SqlError | TurnRefused>
  }
>()("runplane/control-plane/RunExports") {
  static readonly layer = Layer.effect(
    RunExports,
    Effect.gen(function* () {
      const artifacts = yield* ArtifactRepository
      const audit = yield* AuditTrail
      const erasures = yield* RunErasures
      const events = yield* EventRepository
      const marks = yield* MarkAppendices
      const repository = yield* ExportRepository
      const runs = yield* RunRepository
      const seals = yield* RunSeals

      const poolMax = yield* readSetting(ControlPlaneSettings.DB_POOL_MAX)
      const turns = makeFairTurns("export", streamReadsAt(poolMax))

      /** The rows for one caller, read by the fiber that sends the response. */
      const rowsFor = (facts: typeof RequestFacts.Service): ExportRows => {
        const inTurn = <A, E>(read: Effect.Effect<A, E>) => readFor({ facts })(turns.goOn(read))
        return {
          artifacts: (...of) => inTurn(artifacts.page(...of)),
          canonicalEvents: (...of) => inTurn(Effect.map(events.salted(...of), (slice) => slice.events)),
          erasures: (runId) => inTurn(erasures.appendix(runId)),
          marks: (runId) => inTurn(marks.text(runId)),
          rawEvents: (...of) => inTurn(repository.rawEvents(...of)),
          status: runs.status
        }
      }

      /** Runs that a batch does not reach, because its client left, have no audit entry. */
      const open = Effect.fnUntraced(function* (
        reference: string,
        { format, ...options }: ExportOptions & { readonly format: keyof typeof exportTexts },
        caller: Caller
      ) {
        const runId = yield* runs.resolve(reference)
        // A run that cannot be sealed is exported without a seal.
        const sealed = runId === undefined ? undefined : yield* seals.sealed(runId)
        const found = yield* repository.head(reference)
        // A seal of other events is not exported.
        const head =
          found !== undefined && typeof sealed === "object" && sealed.events === found.canonicalEvents
            ? { ...found, seal: sealed }
            : found
        const exportedAt = yield* isoNow
        if (runId === undefined || head === undefined) return undefined
        const details = { format, ...options }
        yield* audit.recordDone({
          ...{ caller, action: "run.export", resource: "run", resourceId: runId, details, at: exportedAt }
        })
        return { head, exportedAt, options, signer: seals.signer }
      })

      const one = Effect.fn("RunExports.one")(function* (
        reference: string,
        format: keyof typeof exportTexts,
        options: ExportOptions,
        caller: Caller
      ) {
        const opened = yield* turns.run(open(reference, { format, ...options }, caller))
        if (opened === undefined) return yield* runNotFound(reference)
        return exportTexts[format].text(rowsFor(yield* RequestFacts), opened)
      })

      const bundleOf = (reference: string, caller: Caller, facts: typeof RequestFacts.Service): ExportText =>
        Stream.unwrap(
          Effect.flatMap(
            readFor({ facts })(turns.goOn(open(reference, { format: "json", ...BATCH_EXPORT }, caller))),
            (opened) =>
              opened === undefined
                ? Effect.fail(new RunGone({ runId: reference }))
                : Effect.succeed(bundleText(rowsFor(facts), opened))
          )
        )
      const many = Effect.fn("RunExports.many")(function* (references: ReadonlyArray<string>, caller: Caller) {
        const facts = yield* RequestFacts
        const [unknown] = yield* turns.run(repository.missing(references))
        if (unknown !== undefined) return yield* runNotFound(unknown)
        const bundle = (reference: string) => bundleOf(reference, caller, facts)
        const bundles = Stream.flatMap(Stream.zipWithIndex(Stream.fromIterable(references)), ([reference, number]) =>
          number === 0 ? bundle(reference) : Stream.concat(Stream.make(","), bundle(reference))
        )
        return Stream.make("[").pipe(Stream.concat(bundles), Stream.concat(Stream.make("]")))
      })
      return RunExports.of({ one, many })
    })
  )
}
