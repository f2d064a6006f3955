import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { layerFromSettings } from "./ControlPlane.ts"

// A signal is the ordinary end of a service, so it exits with 0.
NodeRuntime.runMain(Layer.launch(layerFromSettings), {
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
