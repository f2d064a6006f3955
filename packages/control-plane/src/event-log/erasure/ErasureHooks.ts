import type { ErasedRows, Erasure, RemainingText } from "@runplane/api"
import { type RunId, scrubbedJson, type TextFinder } from "@runplane/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** What is erased from a run, whose row is locked. */
export interface RunErasure {
  readonly runId: RunId
  /** Finds the text, and copies of the values that are erased from the log. */
  readonly finder: TextFinder
  /** Whether nothing changes: the answer says what would. */
  readonly isDryRun: boolean
  readonly by: string
  /** ISO-8601. */
  readonly at: string
}

/** What an erasure found outside of the log. */
export interface FoundRows {
  readonly rows: ReadonlyArray<ErasedRows>
  readonly remains: ReadonlyArray<RemainingText>
  /** Files that have the text until another process rewrites them. */
  readonly pending?: NonNullable<Erasure["pending"]>
}

/**
 * Removes texts from the rows that a feature has of a run, in the transaction that erases them from its log. It reads
 * and writes the tables of its feature alone: the order of hooks means nothing.
 */
export type ErasureHook = (erasure: RunErasure) => Effect.Effect<FoundRows, SqlError>

/** The hooks of all features, for erasures. */
export class ErasureHooks extends Context.Service<ErasureHooks, ReadonlyArray<ErasureHook>>()(
  "runplane/control-plane/ErasureHooks"
) {}

export const NOTHING_FOUND: FoundRows = { rows: [], remains: [] }

/** The rows of a kind that lose a text; `kept` of them keep one in a member that identifies them. */
export const foundRows = (of: ErasedRows["of"], count: number, kept = 0): FoundRows => ({
  rows: count === 0 ? [] : [{ of, count }],
  remains: kept === 0 ? [] : [{ of, why: `a member that identifies it has the text (${kept})` }]
})

export const togetherFound = (found: ReadonlyArray<FoundRows>): FoundRows => ({
  rows: found.flatMap(({ rows }) => rows),
  remains: found.flatMap(({ remains }) => remains),
  ...pendingOf(found)
})

const pendingOf = (found: ReadonlyArray<FoundRows>) => {
  const pending = found.flatMap((one) => one.pending ?? [])[0]
  return pending === undefined ? {} : { pending }
}

/** Scrubs the columns of rows one after the other, and notes what became of them. */
export const makeScrubber = (finder: TextFinder, keep: ReadonlySet<string>) => {
  let [isChanged, kept] = [false, 0]
  /** A JSON text without what is erased. */
  const json = <T extends string | null>(text: T): string | T => {
    if (text === null) return text
    const scrubbed = scrubbedJson(finder, text, keep)
    isChanged ||= scrubbed.removed > 0
    kept += scrubbed.kept
    return scrubbed.text
  }
  /** A text, which is erased as a whole. */
  const text = <T extends string | null>(given: T): string | T => {
    if (given === null || !finder(given)) return given
    isChanged = true
    return ""
  }
  return {
    json,
    text,
    /** The rows that a scrub changes. */
    changed: <Row>(rows: ReadonlyArray<Row>, scrub: (row: Row) => Row): ReadonlyArray<Row> =>
      rows.flatMap((row) => {
        isChanged = false
        const scrubbed = scrub(row)
        return isChanged ? [scrubbed] : []
      }),
    /** Members that have the text and stay. */
    kept: () => kept
  }
}
