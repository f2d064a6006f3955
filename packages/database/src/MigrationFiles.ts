import { hash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"

const FILE = /^(\d+)_([^.]+)\.sql$/
/** One statement of a file, up to its semicolon: the driver takes one at a time. */
const STATEMENT = /(?:--.*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+/g
/** The lines before a statement that hold nothing but comments. */
const LEADING = /^(?:\s|--.*)*/

/** A numbered file of a folder of migrations. */
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
export const hashOf = (text: string): string =>
  hash("sha256", text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"), "hex")

/** The numbered files of a folder, in their order. */
export const readMigrationFiles = (folder: string): Effect.Effect<ReadonlyArray<MigrationFile>> =>
  Effect.sync(() =>
    readdirSync(folder)
      .sort()
      .flatMap((file) => {
        const match = FILE.exec(file)
        if (match === null) return []
        const text = readFileSync(join(folder, file), "utf8")
        return [{ id: Number(match[1]), name: match[2] ?? "", file, text, hash: hashOf(text) }]
      })
  )

/** The statements of a file, without empty ones. */
export const statementsOf = (text: string): ReadonlyArray<Statement> =>
  [...text.matchAll(STATEMENT)].flatMap((match) => {
    const [whole] = match
    const leading = LEADING.exec(whole)?.[0].length ?? 0
    if (leading === whole.length) return []
    return [{ text: whole, line: text.slice(0, match.index + leading).split("\n").length }]
  })
