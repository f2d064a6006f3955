import { row, settingsOf } from "./Setting.ts"
import { path, text, wholeNumber } from "./SettingTypes.ts"

/** The environment of the agents that the launch service starts. */
export const AgentSettings = settingsOf(["agents"], {
  PROTO_BOOTSTRAP_FILE: row(path, undefined, "The agent's bootstrap file.", { aliases: ["MACP_BOOTSTRAP_FILE"] }),
  PROTO_SESSION_WAIT_MS: row(
    wholeNumber({ unit: "milliseconds", whenBad: "default" }),
    undefined,
    "How long an agent waits for its session to be opened."
  ),
  OTEL_EXPORTER_OTLP_HEADERS: row(
    text,
    undefined,
    "Headers of the spans that an example agent exports when `OTEL_EXPORTER_OTLP_ENDPOINT` is set, as `name=value,...`.",
    { secret: true }
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: row(text, undefined, "The same for traces alone.", { secret: true }),
  TRACEPARENT: row(text, undefined, "The trace of the launch (W3C), when there is one; it goes with the agent's calls.")
})
