import { row, settingsOf } from "./Setting.ts"
import { databaseAddress, keys, knownPort, logLevel, path, strictFlag, text } from "./SettingTypes.ts"

/** What `npm start` reads by itself; the services in it read theirs. */
export const StackSettings = settingsOf(["stack"], {
  LAUNCHER_PORT: row(knownPort, 3000, "Port of the launch service."),
  CONTROL_PLANE_PORT: row(knownPort, 3001, "Port of the control plane."),
  SANDBOX_PORT: row(knownPort, 50_051, "Port of the sandbox runtime."),
  SANDBOX_ACCEPT_NAMES: row(
    strictFlag,
    true,
    "Whether the sandbox runtime accepts the name of a caller as its bearer token, besides signed tokens."
  ),
  AUTH_PORT: row(knownPort, undefined, "Port of the auth service (3200, or a free one)."),
  HOST: row(text, "127.0.0.1", "Address of both services."),
  DATABASE_URL: row(databaseAddress, undefined, "A PostgreSQL of your own instead of the embedded one.", {
    secret: true
  }),
  RUNTIME_ADDRESS: row(text, undefined, "host:port of a runtime of your own instead of the sandbox."),
  DEV_AUTH: row(
    strictFlag,
    undefined,
    "Whether the auth service mints the credentials for the runtime; true with the sandbox, false with RUNTIME_ADDRESS."
  ),
  RUNPLANE_DATA_DIR: row(path, ".data", "Folder of the embedded PostgreSQL."),
  RUNPLANE_POSTGRES_PORT: row(knownPort, undefined, "Port of the embedded PostgreSQL (54329, or a free one)."),
  PACKS_DIR: row(path, undefined, "Folder of the scenario packs.", { shownDefault: "packs, else Runplane's own" }),
  AUTH_API_KEYS: row(keys, [], "API keys of both services, separated by commas.", { secret: true }),
  LOG_LEVEL: row(logLevel, "Warn", "What the services write to stderr.", { shownDefault: "warn" })
})
