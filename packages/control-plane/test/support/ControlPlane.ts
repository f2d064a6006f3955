import { builtinTokenPricing } from "@runplane/domain"
import * as Layer from "effect/Layer"
import { FrameNormaliser } from "../../src/events/FrameNormaliser.ts"
import { layerLog } from "../../src/events/Log.ts"

export const layerTestNormaliser = FrameNormaliser.layerFrom({ redactPatterns: "", pricing: builtinTokenPricing })

/** The log on whatever database the test provides. */
export const layerTestLog = layerLog.pipe(Layer.provide(layerTestNormaliser))
