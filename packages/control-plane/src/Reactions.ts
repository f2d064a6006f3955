import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "./event-log/append/Reactors.ts"
import { ErasureHooks } from "./event-log/erasure/ErasureHooks.ts"
import { DeletionHooks } from "./event-log/runs/DeletionHooks.ts"
import { RunTraces } from "./event-log/runs/RunTraces.ts"
import { fieldsOf } from "./Feature.ts"
import { features } from "./features.ts"
import { MarkHooks } from "./marks/MarkHooks.ts"
import { markSearchFields } from "./marks/MarkSearchFields.ts"
import { makeLateCancelErasure } from "./observe/LateCancelErasure.ts"
import { makeAuditExpiry } from "./platform/audit/AuditExpiry.ts"
import { EvidenceParts } from "./platform/http/EvidenceParts.ts"
import { ReadyParts } from "./platform/http/ReadyParts.ts"
import { Metrics } from "./platform/metrics/Metrics.ts"
import { Expiries } from "./platform/postgres/Expiry.ts"
import { RunExtras } from "./platform/postgres/search/RunExtras.ts"
import type { SearchFields } from "./platform/postgres/search/SearchFields.ts"
import { EventMeaning } from "./queries/query/EventSearch.ts"
import { RunMeaning } from "./queries/runs/RunSearch.ts"
import { countAppends } from "./reactors/metrics/CountAppends.ts"
import { makeRunLog } from "./reactors/runs/RunLog.ts"
import { makeEventTallies } from "./reactors/tallies/EventTally.ts"
import { makeLateChanges, RunTallies } from "./reactors/tallies/RunTallies.ts"
import { makeRunSpans } from "./reactors/traces/RunSpans.ts"
import { Admission } from "./runs/Admission.ts"
import { ClaimHooks } from "./runs/ClaimHooks.ts"

const reactors = Layer.effect(
  Reactors,
  Effect.all([
    makeEventTallies,
    makeLateChanges,
    ...fieldsOf(features, "reactor"),
    Effect.map(Metrics, countAppends),
    makeRunLog,
    makeRunSpans
  ])
)

/** What features do when runs are deleted. */
export const layerDeletionHooks = Layer.effect(DeletionHooks, Effect.all(fieldsOf(features, "onRunsDeleted")))

/** What is removed from the rows of a run when texts are erased from its log. */
const erasureHooks = Layer.effect(ErasureHooks, Effect.all([makeLateCancelErasure, ...fieldsOf(features, "onErasure")]))

/** What features do when marks change. */
const markHooks = Layer.effect(MarkHooks, Effect.all(fieldsOf(features, "onMark")))

const claimHooks = Layer.effect(ClaimHooks, Effect.all(fieldsOf(features, "onClaim")))

const admission = Layer.effect(Admission, Effect.all(fieldsOf(features, "admission")))

/** What retention deletes by age beside runs. */
export const layerExpiries = Layer.effect(Expiries, Effect.all([makeAuditExpiry, ...fieldsOf(features, "expiry")]))

const searchFields: ReadonlyArray<SearchFields> = [markSearchFields, ...fieldsOf(features, "searchFields")]

/** The meaning of searches over runs and events, with the fields of marks and features, and their extras in lists. */
export const layerSearches = Layer.mergeAll(
  RunMeaning.layer(searchFields.flatMap(({ runs = [] }) => runs)),
  EventMeaning.layer(searchFields.flatMap(({ events = [] }) => events)),
  Layer.succeed(RunExtras, fieldsOf(features, "runExtras").flat())
)

/** What features add to the readiness of the service. Requires the services of their layers. */
export const layerReady = Layer.effect(ReadyParts, Effect.all(fieldsOf(features, "ready")))

/** What features add to the evidence of runs. */
const layerEvidence = Layer.effect(EvidenceParts, Effect.all(fieldsOf(features, "evidence")))

/** What features add to log, marks, runs, searches, retention and evidence, and the services of their reactors. */
export const layer = Layer.mergeAll(
  reactors,
  layerDeletionHooks,
  erasureHooks,
  markHooks,
  claimHooks,
  admission,
  layerExpiries,
  layerEvidence
).pipe(
  Layer.provide(RunTraces.layer),
  Layer.provideMerge(layerSearches),
  Layer.provideMerge(Layer.mergeAll(RunTallies.layer, ...fieldsOf(features, "base")))
)
