import { ControlPlaneSettings, defaultsOf, readSettings, type SettingValues } from "@runplane/server"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

const settings = {
  /** Events that a stored projection may lag behind. */
  lagEvents: ControlPlaneSettings.PROJECTION_CHECKPOINT_EVENTS,
  /** Milliseconds after which a stored projection is written with the next events. */
  lagMs: ControlPlaneSettings.PROJECTION_CHECKPOINT_INTERVAL_MS,
  /** Memory for the projections of the runs that were written last. */
  cacheBytes: ControlPlaneSettings.PROJECTION_CACHE_BYTES
}

/** How far stored projections lag behind (docs/reference/events.md#checkpoint), and how many bytes are cached. */
export const ProjectionSettings = Context.Reference<SettingValues<typeof settings>>(
  "runplane/control-plane/ProjectionSettings",
  { defaultValue: () => defaultsOf(settings) }
)

export const layerProjectionSettings = Layer.effect(ProjectionSettings, readSettings(settings))
