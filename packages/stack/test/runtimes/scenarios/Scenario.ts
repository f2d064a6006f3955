import type { ControlPlaneClient } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ControlPlaneUnderTest } from "../ControlPlaneUnderTest.ts"
import type { RuntimeUnderTest } from "../RuntimeUnderTest.ts"

/** What a scenario may use. */
export type Surroundings = ControlPlaneClient | ControlPlaneUnderTest | RuntimeUnderTest | Scope.Scope

/** A session that is played to its end through the whole control plane. */
export interface Scenario {
  /** A sentence; the account of the run is kept under it. */
  readonly name: string
  /**
   * Plays it, and answers the run whose account must be as recorded; undefined when the scenario itself has seen to it.
   */
  readonly play: Effect.Effect<RunId | undefined, unknown, Surroundings>
}
