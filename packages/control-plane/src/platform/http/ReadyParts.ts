import type { Readiness } from "@runplane/api"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** The part of a feature in the readiness of the service. */
export interface ReadyPart {
  /** False makes the service degraded. */
  readonly ok: boolean
  /** The keys of the answer that the feature has. */
  readonly shown: Partial<Readiness>
}

/** Reads the part of a feature; undefined without one. A read that fails or is slow leaves the part out. */
export type Ready = Effect.Effect<ReadyPart | undefined, SqlError>

/** The parts of all features. */
export class ReadyParts extends Context.Service<ReadyParts, ReadonlyArray<Ready>>()(
  "runplane/control-plane/ReadyParts"
) {}
