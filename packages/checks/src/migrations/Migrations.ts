import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../Repository.ts"

const folder = join(ROOT, "migrations")

/** The folders below: those of the control plane have none of their own, and the launch service has `people`. */
const OWNERS = ["", "people"]

/**
 * SHA-256 of the files that databases of users were made with, of their text with line feeds. A database stores the
 * hash of each file that it was migrated with, and no program starts on a database of another one. `npm run release`
 * adds the files of its release.
 */
const FROZEN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "frozen.json"), "utf8")
)

/** Of the text with line feeds, as a start compares it. */
const hashOf = (file: string) =>
  createHash("sha256")
    .update(readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n"))
    .digest("hex")

/** The faults of the files of migrations/, a line each: gaps in their numbers, released files that changed. */
export const faultyMigrations = (): ReadonlyArray<string> => [...misnumbered(), ...changed()]

/** A database with a gap in its numbers is refused, and two files of one number cannot both be applied. */
const misnumbered = () =>
  OWNERS.flatMap((owner) =>
    readdirSync(join(folder, owner))
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .flatMap((name, at) =>
        Number(name.slice(0, 4)) === at + 1 ? [] : [`${join("migrations", owner, name)} should be number ${at + 1}`]
      )
  )

const changed = () =>
  Object.entries(FROZEN).flatMap(([name, hash]) => {
    if (!existsSync(join(folder, name))) return [`migrations/${name} is missing, but databases were made with it`]
    return hashOf(name) === hash
      ? []
      : [`migrations/${name} is frozen, because databases were made with it: put the change into a new file`]
  })
