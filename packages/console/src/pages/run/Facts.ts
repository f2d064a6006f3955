import type { Run } from "@runplane/api"
import type { CanonicalEvent, RunState } from "@runplane/domain"

/** Everything that the views of a run look at: the run as it was at one place. */
export interface Shown {
  readonly run: Run
  readonly state: RunState
  /** Events of the run before those that are here: nothing is left out at 0. */
  readonly start: number
  /** The events up to the place. */
  readonly events: ReadonlyArray<CanonicalEvent>
  /** All that are here, for what shows the whole run. */
  readonly all: ReadonlyArray<CanonicalEvent>
  /** Whether all events up to the place are here; those of a long run come after its state. */
  readonly isWhole: boolean
  /** Whether it is the latest there is. */
  readonly isNow: boolean
  /** Place of each participant, which gives it its colour. */
  readonly placeOf: (participantId: string) => number
}
