import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { printSettings, wantsSettings } from "@runplane/server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { environment, layerFromSettings } from "./FromSettings.ts"

const program = wantsSettings(process.argv)
  ? Effect.provide(printSettings("launcher"), [environment, NodeFileSystem.layer])
  : Layer.launch(layerFromSettings)

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
