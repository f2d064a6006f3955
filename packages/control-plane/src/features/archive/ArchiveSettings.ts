import { ArchiveStore, type ArchiveTarget, archiveTarget } from "@runplane/archive"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ArchiveOptions, type ArchiveWriting } from "./ArchiveOptions.ts"

const settings = {
  url: ControlPlaneSettings.ARCHIVE_URL,
  cell: ControlPlaneSettings.ARCHIVE_CELL,
  intervalMs: ControlPlaneSettings.ARCHIVE_INTERVAL_MS,
  rows: ControlPlaneSettings.ARCHIVE_FILE_ROWS,
  bytes: ControlPlaneSettings.ARCHIVE_FILE_BYTES,
  accessKeyId: ControlPlaneSettings.AWS_ACCESS_KEY_ID,
  secretAccessKey: ControlPlaneSettings.AWS_SECRET_ACCESS_KEY,
  sessionToken: ControlPlaneSettings.AWS_SESSION_TOKEN,
  region: ControlPlaneSettings.AWS_REGION,
  endpoint: ControlPlaneSettings.AWS_ENDPOINT_URL
}

export interface ConfiguredArchive {
  readonly target: ArchiveTarget
  readonly writing: ArchiveWriting
}

/** The archive of the ARCHIVE_* settings; undefined without ARCHIVE_URL. Fails when the address is not one. */
export const archiveFromSettings = Effect.gen(function* () {
  const { bytes, cell, intervalMs, rows, url, ...access } = yield* readSettings(settings)
  if (url === undefined) return undefined
  const target = yield* Effect.fromResult(archiveTarget(url, access))
  return { target, writing: { cell, intervalMs, bounds: { rows, bytes } } } satisfies ConfiguredArchive
})

/** What its writer needs. */
export const layerConfigured = ({ target, writing }: ConfiguredArchive) =>
  Layer.merge(Layer.succeed(ArchiveStore, target), Layer.succeed(ArchiveOptions, writing))
