import { makeServiceRegistry, type ServiceRegistry } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The Prometheus metrics of this process (docs/reference/http.md#metrics-endpoint). */
export class LauncherMetrics extends Context.Service<LauncherMetrics, ServiceRegistry>()(
  "runplane/launcher/LauncherMetrics"
) {
  static readonly layer = Layer.effect(
    LauncherMetrics,
    Effect.map(makeServiceRegistry("launcher"), (registry) => LauncherMetrics.of(registry))
  )
}
