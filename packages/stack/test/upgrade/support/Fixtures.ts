import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

const FOLDER = join(import.meta.dirname, "../fixtures")

/** The files of a release. Earlier ones have the backup alone. */
export interface ReleaseFixture {
  readonly version: string
  /** Its database, as `runplane backup` writes it. */
  readonly backup: string
  /** What its service has answered, by path. */
  readonly served: string
  /** The files of its archive, packed. */
  readonly archive: string
  /** Its control plane, bundled and packed: of the latest release alone. */
  readonly program: string
}

export const fixtureOf = (version: string): ReleaseFixture => {
  const at = (name: string) => join(FOLDER, `${version}.${name}`)
  return {
    version,
    backup: at("backup"),
    served: at("served.json"),
    archive: at("archive.br"),
    program: at("program.br")
  }
}

const BACKUP = ".backup"

/** The releases with data, the earliest first. */
export const fixtures = (): ReadonlyArray<ReleaseFixture> =>
  readdirSync(FOLDER)
    .flatMap((name) => (name.endsWith(BACKUP) ? [name.slice(0, -BACKUP.length)] : []))
    .sort((left, right) => left.localeCompare(right, "en", { numeric: true }))
    .map(fixtureOf)

/** The release with a program: the one that runs beside the program of today during an upgrade. */
export const releaseBefore = (): ReleaseFixture => {
  const found = fixtures().filter(({ program }) => existsSync(program))
  const [only] = found
  if (only === undefined || found.length > 1) {
    throw new Error(`one release must have a program, not ${found.map(({ version }) => version).join(", ") || "none"}`)
  }
  return only
}

/**
 * Removes what a new release replaces: the programs of the earlier ones, since only neighbours share a database, and
 * the states before the release itself (`1.0.0-pre` of 1.0.0).
 */
export const removeReplaced = (version: string): void => {
  for (const release of fixtures()) {
    if (release.version === version) continue
    rmSync(release.program, { force: true })
    if (!release.version.startsWith(`${version}-`)) continue
    for (const file of [release.backup, release.served, release.archive]) rmSync(file, { force: true })
  }
}
