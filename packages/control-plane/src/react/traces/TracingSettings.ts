import { ControlPlaneSettings, readSettings } from "@runplane/server"

/**
 * `OTEL_ENABLED` and `OTEL_SERVICE_NAME`. The exporter itself reads the endpoint and the other standard `OTEL_*`
 * variables.
 */
export const tracingSettings = readSettings({
  enabled: ControlPlaneSettings.OTEL_ENABLED,
  serviceName: ControlPlaneSettings.OTEL_SERVICE_NAME
})
