import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler
} from "@opentelemetry/sdk-trace"
import * as Effect from "effect/Effect"
import { readSetting, type SettingsRefused } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"

const PARENT_BASED = "parentbased_"

/**
 * The sampler that `OTEL_TRACES_SAMPLER` names. An unknown name, and a share that is not one, is a warning, as the
 * OpenTelemetry specification requires, and the default counts (docs/reference/admin.md#tracing).
 */
export const traceSampler = Effect.gen(function* (): Effect.fn.Return<Sampler, SettingsRefused> {
  const name = yield* readSetting(ServiceSettings.OTEL_TRACES_SAMPLER)
  const root = yield* rootSampler(name.replace(PARENT_BASED, ""))
  if (root === undefined) {
    yield* Effect.logWarning(`OTEL_TRACES_SAMPLER: "${name}" is not known; parentbased_always_on counts`)
    return new ParentBasedSampler({ root: new AlwaysOnSampler() })
  }
  return name.startsWith(PARENT_BASED) ? new ParentBasedSampler({ root }) : root
})

const rootSampler = Effect.fnUntraced(function* (name: string) {
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler()
    case "always_off":
      return new AlwaysOffSampler()
    case "traceidratio":
      return new TraceIdRatioBasedSampler(yield* share)
    default:
      return undefined
  }
})

const share = Effect.gen(function* () {
  const text = yield* readSetting(ServiceSettings.OTEL_TRACES_SAMPLER_ARG)
  const value = text.trim() === "" ? Number.NaN : Number(text)
  if (value >= 0 && value <= 1) return value
  yield* Effect.logWarning(`OTEL_TRACES_SAMPLER_ARG: "${text}" is not a share from 0 to 1; 1 counts`)
  return 1
})
