import {
  ControlPlaneSettings,
  checkSettings,
  judgeDeployment,
  judgeSettings,
  RuntimeSettings,
  type SettingTexts
} from "@runplane/server"
import * as Effect from "effect/Effect"
import { readCertificates } from "./edge/RuntimeCertificates.ts"
import { readSealKey } from "./log/seal/SealKeys.ts"
import { readPricing } from "./log/TokenPricing.ts"

/** What is wrong with a setting that names a file, which has to be opened to be judged. */
const fileFaults = Effect.fnUntraced(function* <A, R>(
  texts: SettingTexts,
  variable: string,
  read: (path: string) => Effect.Effect<A, { readonly message: string }, R>
) {
  const path = texts.get(variable)
  if (path === undefined) return []
  const result = yield* Effect.result(read(path))
  return result._tag === "Success" ? [] : [{ variable, problem: `cannot be used: ${result.failure.message}` }]
})

const judge = Effect.fnUntraced(function* (texts: SettingTexts) {
  const { faults, warnings } = judgeDeployment(texts)
  const pricing = yield* fileFaults(texts, ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE.name, readPricing)
  const sealKey = yield* fileFaults(texts, ControlPlaneSettings.SEAL_PRIVATE_KEY_FILE.name, readSealKey)
  const caFile = yield* fileFaults(texts, RuntimeSettings.RUNTIME_TLS_CA_FILE.name, readCertificates)
  return { faults: [...faults, ...pricing, ...sealKey, ...caFile], warnings }
})

/** All that is to be said about the settings of the control plane. */
export const judgeControlPlaneSettings = judgeSettings("control-plane", judge)

/** Looks at all settings of the control plane before anything is started. */
export const checkControlPlaneSettings = checkSettings("control-plane", judge)
