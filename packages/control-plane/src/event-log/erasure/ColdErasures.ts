import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ErasableHead, TextLog } from "./ErasableLog.ts"
import type { FoundRows, RunErasure } from "./ErasureHooks.ts"

/** A run that only files of the archive have, as an erasure reads and rewrites it. */
export interface ColdErasable extends ErasableHead {
  readonly runId: RunId
  readonly log: TextLog
  /** Removes texts from its row and names what stays in files; after the texts of the log. */
  readonly erase: (erasure: RunErasure) => Effect.Effect<FoundRows, SqlError>
}

/** What the archive adds to erasures. */
export interface ColdErasuresPort {
  /** Locks the run against other erasures and deletions with `lock`; undefined for every other run. */
  readonly open: (reference: string, lock: boolean) => Effect.Effect<ColdErasable | undefined, SqlError>
  /** All of them. */
  readonly all: Effect.Effect<ReadonlyArray<RunId>, SqlError>
}

/** The default is a service without an archive. */
export const ColdErasures = Context.Reference<ColdErasuresPort>("runplane/control-plane/ColdErasures", {
  defaultValue: () => ({ open: () => Effect.succeed(undefined), all: Effect.succeed([]) })
})
