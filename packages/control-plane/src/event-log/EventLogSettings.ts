import { ControlPlaneSettings, defaultsOf, readSettings, type SettingValues } from "@runplane/server"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

const settings = {
  /** Frames that the process holds before they are stored, of all runs together; see `FrameBudget`. */
  bufferBytes: ControlPlaneSettings.LOG_BUFFER_BYTES,
  /** The share of it that one run may use. */
  runBufferBytes: ControlPlaneSettings.LOG_RUN_BUFFER_BYTES,
  /** Frames of one append. */
  appendBytes: ControlPlaneSettings.LOG_APPEND_BYTES,
  /** Frames of the appends that share a transaction. */
  groupBytes: ControlPlaneSettings.LOG_GROUP_BYTES,
  /** Milliseconds after which an append has waited too long for the service to be called ready. */
  oldestAppendMs: ControlPlaneSettings.LOG_OLDEST_APPEND_MS
}

/**
 * The bounds of the log in bytes (docs/reference/events.md#bounds). What is bounded in bytes takes a single frame of
 * any size, as long as that one is alone.
 */
export const EventLogSettings = Context.Reference<SettingValues<typeof settings>>(
  "runplane/control-plane/EventLogSettings",
  {
    defaultValue: () => defaultsOf(settings)
  }
)

export const layerLogSettings = Layer.effect(EventLogSettings, readSettings(settings))
