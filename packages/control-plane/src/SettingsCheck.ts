import {
  ControlPlaneSettings,
  checkSettings,
  judgeDeployment,
  judgeSettings,
  type SettingTexts
} from "@runplane/server"
import * as Effect from "effect/Effect"
import { readPricing } from "./log/TokenPricing.ts"

/** The one setting whose value has to be opened to be judged. */
const pricingFaults = Effect.fnUntraced(function* (texts: SettingTexts) {
  const variable = ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE.name
  const path = texts.get(variable)
  if (path === undefined) return []
  const read = yield* Effect.result(readPricing(path))
  return read._tag === "Success" ? [] : [{ variable, problem: `cannot be used: ${read.failure.message}` }]
})

const judge = Effect.fnUntraced(function* (texts: SettingTexts) {
  const { faults, warnings } = judgeDeployment(texts)
  return { faults: [...faults, ...(yield* pricingFaults(texts))], warnings }
})

/** All that is to be said about the settings of the control plane. */
export const judgeControlPlaneSettings = judgeSettings("control-plane", judge)

/** Looks at all settings of the control plane before anything is started. */
export const checkControlPlaneSettings = checkSettings("control-plane", judge)
