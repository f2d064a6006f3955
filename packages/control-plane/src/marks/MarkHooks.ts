import type { Mark, MarkValue, RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** A mark that a transaction has added, replaced, erased or restored. */
export interface MarkChange {
  readonly id: string
  readonly name: string
  readonly author: string
  /** ISO-8601. */
  readonly createdAt: string
  /** Of an erased mark: the value that it had. Undefined for a mark that was erased before. */
  readonly value: MarkValue | undefined
  /** 1 for a mark that becomes current, -1 for one that was current, 0 for one that is as current as before. */
  readonly current: 1 | -1 | 0
}

/**
 * What a feature writes when marks of a run change: after the rows of the marks, in the same transaction. It gets all
 * changes of one write, in their order: replaced marks first, then added ones.
 */
export type MarkHook = (runId: RunId, changes: ReadonlyArray<MarkChange>) => Effect.Effect<void, SqlError>

/** The hooks of all features, for the writer of marks. */
export class MarkHooks extends Context.Service<MarkHooks, ReadonlyArray<MarkHook>>()(
  "runplane/control-plane/MarkHooks"
) {}

/** A change of a mark that still has its value. */
export const changeOf = (
  { author, createdAt, id, name, value }: Pick<Mark, "author" | "createdAt" | "id" | "name" | "value">,
  current: MarkChange["current"]
): MarkChange => ({ ...{ id, name, author, createdAt, value }, current })
