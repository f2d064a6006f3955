import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** How many launches wait for agents to end. Who reads files for every request may then do it less often. */
export class LaunchPressure extends Context.Service<LaunchPressure, { waiting: number }>()(
  "runplane/launcher/LaunchPressure"
) {
  static readonly layer = Layer.sync(LaunchPressure, () => LaunchPressure.of({ waiting: 0 }))
}
