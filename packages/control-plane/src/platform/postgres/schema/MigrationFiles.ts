import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Effect from "effect/Effect"
import { sha256Hex } from "../../Sha256.ts"

const FOLDER = join(PROJECT_FOLDER, "migrations")
const FILE = /^(\d+)_([^.]+)\.sql$/
/** One statement of a file, up to its semicolon: the driver takes one at a time. */
const STATEMENT = /(?:--.*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+/g
/** The lines before a statement that hold nothing but comments. */
const LEADING = /^(?:\s|--.*)*/

/** A numbered file of `migrations/`. */
export interface MigrationFile {
  readonly id: number
  readonly name: string
  /** Its name in the folder. */
  readonly file: string
  readonly text: string
  /** Of the text, the same for every kind of line ending. */
  readonly hash: string
}

/** One statement of a file. */
export interface Statement {
  readonly text: string
  /** Of its first word, counted from 1. */
  readonly line: number
}

/** SHA-256 of a migration's text in hexadecimal. Checkouts differ in their line endings. */
export const hashOf = (text: string): string => sha256Hex(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"))

const readText = (file: string) => readFileSync(join(FOLDER, file), "utf8")

/** The numbered files of `migrations/`, in their order. */
export const migrationFiles: Effect.Effect<ReadonlyArray<MigrationFile>> = Effect.sync(() =>
  readdirSync(FOLDER)
    .sort()
    .flatMap((file) => {
      const match = FILE.exec(file)
      if (match === null) return []
      const text = readText(file)
      return [{ id: Number(match[1]), name: match[2] ?? "", file, text, hash: hashOf(text) }]
    })
)

/** The objects that `0001_schema.sql` makes, as `SchemaObjects.ts` reads them from the catalog. */
export const firstObjects: Effect.Effect<ReadonlyArray<string>> = Effect.sync(() =>
  readText("0001_schema.objects.txt")
    .split(/\r?\n/)
    .filter((line) => line !== "")
)

/** The statements of a file, without empty ones. */
export const statementsOf = (text: string): ReadonlyArray<Statement> =>
  [...text.matchAll(STATEMENT)].flatMap((match) => {
    const [whole] = match
    const leading = LEADING.exec(whole)?.[0].length ?? 0
    if (leading === whole.length) return []
    return [{ text: whole, line: text.slice(0, match.index + leading).split("\n").length }]
  })
