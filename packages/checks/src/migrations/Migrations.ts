import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../Repository.ts"

const folder = join(ROOT, "migrations")

/**
 * SHA-256 of the files that databases of users were made with. A database stores the hash of each file that it was
 * migrated with, and no program starts on a database of another one. A release adds its files.
 */
const FROZEN: Readonly<Record<string, string>> = {
  "0001_schema.sql": "3cd5a723294d3d885e4d6c6361fc89c35d482f3a61ee7a0c10db35e14f889563",
  "0001_schema.objects.txt": "aefcb49d2a89777479ca9913535f8259e87d816017b529d9e1e9ced4da3b0f5a"
}

/** Of the text with line feeds, as a start compares it. */
const hashOf = (file: string) =>
  createHash("sha256")
    .update(readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n"))
    .digest("hex")

/** The faults of the files of migrations/, a line each: gaps in their numbers, released files that changed. */
export const faultyMigrations = (): ReadonlyArray<string> => [...misnumbered(), ...changed()]

/** A database with a gap in its numbers is refused, and two files of one number cannot both be applied. */
const misnumbered = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .flatMap((name, at) =>
      Number(name.slice(0, 4)) === at + 1 ? [] : [`migrations/${name} should be number ${at + 1}`]
    )

const changed = () =>
  Object.entries(FROZEN).flatMap(([name, hash]) => {
    if (!existsSync(join(folder, name))) return [`migrations/${name} is missing, but databases were made with it`]
    return hashOf(name) === hash
      ? []
      : [`migrations/${name} is frozen, because databases were made with it: put the change into a new file`]
  })
