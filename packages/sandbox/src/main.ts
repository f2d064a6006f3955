import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import { layerFromSettings } from "./FromSettings.ts"

NodeRuntime.runMain(Layer.launch(layerFromSettings))
