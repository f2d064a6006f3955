import { ControlPlaneSettings, checkSettings, judgeDeployment, type SettingTexts } from "@runplane/server"
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

/** Looks at all settings of the control plane before anything is started. */
export const checkControlPlaneSettings = checkSettings("control-plane", (texts) =>
  Effect.gen(function* () {
    const { faults, warnings } = judgeDeployment(texts)
    return { faults: [...faults, ...(yield* pricingFaults(texts))], warnings }
  })
)
