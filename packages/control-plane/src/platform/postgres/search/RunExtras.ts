import * as Context from "effect/Context"

/** What a feature adds to each run of a list on request, as JSON under the key of its `include`. */
export interface RunExtra {
  readonly include: string
  /** SQL that joins a row of the feature, if there is one, to a run `r`. */
  readonly join: string
  /** The column of that row with the JSON; a run without it has no such key. */
  readonly column: string
}

/** The extras of all features. */
export class RunExtras extends Context.Service<RunExtras, ReadonlyArray<RunExtra>>()(
  "runplane/control-plane/RunExtras"
) {}
