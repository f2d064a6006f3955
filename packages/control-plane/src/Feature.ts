import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { Reactor } from "./event-log/append/Reactors.ts"
import type { ErasureHook } from "./event-log/erasure/ErasureHooks.ts"
import type { DeletionHook } from "./event-log/runs/DeletionHooks.ts"
import type { MarkHook } from "./marks/MarkHooks.ts"
import type { EvidencePart } from "./platform/http/EvidenceParts.ts"
import type { Ready } from "./platform/http/ReadyParts.ts"
import type { Expiry } from "./platform/postgres/Expiry.ts"
import type { RunExtra } from "./platform/postgres/search/RunExtras.ts"
import type { SearchFields } from "./platform/postgres/search/SearchFields.ts"
import type { AdmissionGuard } from "./runs/Admission.ts"
import type { ClaimHook } from "./runs/ClaimHooks.ts"

/**
 * A feature as the service composes it: what it adds to the core, each by a port of the core. Its file is
 * `<Name>.feature.ts`, and `features.ts` lists it. A record is checked by `satisfies`, since an annotation would erase
 * the services of its layers.
 */
export interface Feature {
  readonly name: string
  /** The tables that the feature owns: only its folder writes them. */
  readonly tables: ReadonlyArray<string>
  /** Services of its reactor. They know the platform alone, because the log waits for them. */
  // biome-ignore lint/suspicious/noExplicitAny: the services and errors of the layer stay exact by `satisfies`
  readonly base?: Layer.Layer<never, any, any>
  /** Follows the appends of the log. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly reactor?: Effect.Effect<Reactor, any, any>
  /** Deletes the rows that the feature has of some runs, with the runs. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly onRunsDeleted?: Effect.Effect<DeletionHook, any, any>
  /** Removes texts from its rows of a run, in the transaction that erases them from the log. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly onErasure?: Effect.Effect<ErasureHook, any, any>
  /** Follows the writes of marks, in their transaction. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly onMark?: Effect.Effect<MarkHook, any, any>
  /** Follows the claims of discovered runs, in their transaction. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly onClaim?: Effect.Effect<ClaimHook, any, any>
  /** Admits or refuses new runs, in the transaction that creates them. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly admission?: Effect.Effect<AdmissionGuard, any, any>
  /** Its rows that retention deletes by their age. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly expiry?: Effect.Effect<Expiry, any, any>
  /** What it adds to runs of lists on request. */
  readonly runExtras?: ReadonlyArray<RunExtra>
  /** Its fields in searches over runs and events. */
  readonly searchFields?: SearchFields
  /** Services and loops above the log and the observers. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly layer?: Layer.Layer<never, any, any>
  /** Its part of the readiness of the service. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly ready?: Effect.Effect<Ready, any, any>
  /** Its file in the evidence of a run. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly evidence?: Effect.Effect<EvidencePart, any, any>
  /** The handlers of its groups of the API. The server puts the middleware of the contract under them. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly routes?: Layer.Layer<never, any, any>
  /** Routes and receivers beside the API, on the router of the server. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly rawRoutes?: Layer.Layer<never, any, any>
}

type FieldOf<F, K extends string> = F extends { readonly [key in K]: infer V } ? V : never

/** The values of a field, of the features that have it, with their exact types. */
export const fieldsOf = <const F extends ReadonlyArray<Feature>, K extends keyof Feature>(
  features: F,
  field: K
): ReadonlyArray<FieldOf<F[number], K>> =>
  features.flatMap((feature) => (feature[field] === undefined ? [] : [feature[field] as FieldOf<F[number], K>]))
