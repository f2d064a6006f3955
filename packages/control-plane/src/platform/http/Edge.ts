import { Shutdown } from "@runplane/server"
import * as Layer from "effect/Layer"
import { RuntimeHealth } from "./RuntimeHealth.ts"

/** What the handlers of several folders share. Wants the runtime from its surroundings. */
export const layer = Layer.merge(RuntimeHealth.layer, Shutdown.layer)
