import { readDatabaseTls } from "@runplane/database"
import {
  ControlPlaneSettings,
  checkSettings,
  RuntimeSettings,
  readCertificates,
  readDatabaseAddress,
  type SettingTexts,
  validateDeployment,
  validateSettings
} from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readCatalogue, readPrices } from "./platform/deployment/Prices.ts"
import { readSealKey } from "./platform/ledger/SealKeys.ts"

/** What is wrong with a setting that names a file, which has to be opened. */
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

/** The files that a database's address names; its row reports faults of the address itself. */
const readTlsOf = (url: string) => {
  const address = readDatabaseAddress(url)
  return Result.isSuccess(address) ? Effect.asVoid(readDatabaseTls(address.success)) : Effect.void
}

const validate = Effect.fnUntraced(function* (texts: SettingTexts) {
  const { faults, warnings } = validateDeployment(texts)
  const prices = yield* fileFaults(texts, ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE.name, readPrices)
  const catalogue = yield* fileFaults(texts, ControlPlaneSettings.MODEL_PRICES_FILE.name, readCatalogue)
  const sealKey = yield* fileFaults(texts, ControlPlaneSettings.SEAL_PRIVATE_KEY_FILE.name, readSealKey)
  const previousKey = yield* fileFaults(texts, ControlPlaneSettings.SEAL_PREVIOUS_KEY_FILE.name, readSealKey)
  const runtimeCa = yield* fileFaults(texts, RuntimeSettings.RUNTIME_TLS_CA_FILE.name, readCertificates)
  const databaseCa = yield* fileFaults(texts, ControlPlaneSettings.DATABASE_TLS_CA_FILE.name, readCertificates)
  const databaseTls = yield* fileFaults(texts, ControlPlaneSettings.DATABASE_URL.name, readTlsOf)
  return {
    faults: [
      ...faults,
      ...prices,
      ...catalogue,
      ...sealKey,
      ...previousKey,
      ...runtimeCa,
      ...databaseCa,
      ...databaseTls
    ],
    warnings
  }
})

/** The faults and warnings of the settings of the control plane. */
export const validateControlPlaneSettings = validateSettings("control-plane", validate)

/** Validates all settings of the control plane before anything is started. */
export const checkControlPlaneSettings = checkSettings("control-plane", validate)
