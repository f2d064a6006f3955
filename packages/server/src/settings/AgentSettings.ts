import { row, settingsOf } from "./Setting.ts"
import { path, wholeNumber } from "./SettingTypes.ts"

/** What the launch service tells the agents that it starts. */
export const AgentSettings = settingsOf(["agents"], {
  PROTO_BOOTSTRAP_FILE: row(path, undefined, "The agent's bootstrap file.", { aliases: ["MACP_BOOTSTRAP_FILE"] }),
  PROTO_SESSION_WAIT_MS: row(
    wholeNumber({ unit: "milliseconds", whenBad: "default" }),
    undefined,
    "How long an agent waits for its session to be opened."
  )
})
