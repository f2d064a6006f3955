import * as Schema from "effect/Schema"
import { CONSOLE_PATH } from "./Base.ts"

/** The console's configuration, served by the control plane (docs/reference/admin.md#console). */
export const Config = Schema.Struct({
  /** Address of the launch service as browsers reach it; absent: there is none. */
  launcherUrl: Schema.optionalKey(Schema.String)
})
export type Config = typeof Config.Type

const decode = Schema.decodeUnknownPromise(Config)

/** Read once; it does not change while the page is open. */
export const loadConfig = async (): Promise<Config> => {
  const answer = await fetch(`${CONSOLE_PATH}config.json`)
  if (!answer.ok) throw new Error(`config.json was answered with ${answer.status}`)
  return decode(await answer.json())
}
