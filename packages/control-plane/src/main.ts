import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { printSettings, wantsSettings } from "@runplane/server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { layerFromSettings } from "./ControlPlane.ts"

const program = wantsSettings(process.argv)
  ? Effect.provide(printSettings("control-plane"), NodeFileSystem.layer)
  : Layer.launch(layerFromSettings)

// A signal is the ordinary end of a service, so it exits with 0. A start that fails has said why in the service's own
// log.
NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
