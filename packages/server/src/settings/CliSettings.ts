import { row, settingsOf } from "./Setting.ts"
import { text } from "./SettingTypes.ts"

/**
 * What the command `runplane` reads as a client of both services, beside flags and profiles
 * (docs/reference/cli.md#profiles).
 */
export const CliSettings = settingsOf(["cli"], {
  RUNPLANE_URL: row(text, "http://127.0.0.1:3001", "Address of the control plane."),
  RUNPLANE_LAUNCHER_URL: row(text, "http://127.0.0.1:3000", "Address of the launch service."),
  RUNPLANE_API_KEY: row(text, undefined, "API key for both services.", { secret: true }),
  RUNPLANE_PROFILE: row(text, undefined, "Profile of addresses and key.", {
    shownDefault: "that of `profiles use`, or `default`"
  }),
  RUNPLANE_WEBHOOK_SECRET: row(text, undefined, "Secret that signs the deliveries of `webhooks add`.", {
    secret: true
  }),
  RUNPLANE_ROUTING_KEY: row(text, undefined, "Routing key of PagerDuty for `budgets add`.", { secret: true })
})
