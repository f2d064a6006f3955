import * as Config from "effect/Config"
import { flag, word } from "../Settings.ts"

/** The name under which the service reports, unless `OTEL_SERVICE_NAME` says another. */
export const SERVICE_NAME = "run-control-plane"
/** Where a collector on the same machine takes OTLP over HTTP. */
export const DEFAULT_OTLP_ENDPOINT = "http://localhost:4318"

export interface TracingOptions {
  readonly enabled: boolean
  readonly serviceName: string
}

/**
 * `OTEL_ENABLED` and `OTEL_SERVICE_NAME` (http-details section 14). The endpoint and the other standard `OTEL_*` variables are read
 * by the exporter itself.
 */
export const tracingSettings: Config.Config<TracingOptions> = Config.all({
  enabled: flag("OTEL_ENABLED", false),
  serviceName: word("OTEL_SERVICE_NAME", SERVICE_NAME)
})
