/**
 * A process to be killed: recovers and observes whatever DATABASE_URL holds, on the runtime at RUNTIME_ADDRESS.
 * Settings come from the environment, as in production.
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import * as Observation from "../../src/observe/Observation.ts"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { layerRuntime } from "../../src/platform/http/RuntimeFromSettings.ts"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { layerTestLog } from "../support/ControlPlane.ts"

const url = process.env["DATABASE_URL"] ?? ""

const Child = Observation.layer.pipe(
  Layer.provideMerge(layerTestLog),
  Layer.provide([
    layerDatabase({ url, maxConnections: 6 }),
    layerRuntime,
    ObserverSettings.layerFrom({ streamBackoffBaseMs: 10, discoveryGraceMs: 60_000, recoveryIntervalMs: 50 })
  ])
)

NodeRuntime.runMain(Layer.launch(Child))
