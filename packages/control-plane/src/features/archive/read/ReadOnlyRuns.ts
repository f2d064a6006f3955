import { NotFound, runReadOnly } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { Marks } from "../../../marks/Marks.ts"
import { ProjectionRebuild } from "../../../runs/ProjectionRebuild.ts"
import { RunManagement } from "../../../runs/RunManagement.ts"
import { type ColdHead, ColdLog } from "./ColdLog.ts"
import { coldMarks } from "./ColdMarks.ts"

/** Does the second for a run that the database does not have and the archive has. */
const makeElse = Effect.map(
  ColdLog,
  (log) =>
    <A, E, E2>(
      reference: string,
      stored: Effect.Effect<A, E>,
      cold: (head: ColdHead) => Effect.Effect<A, E2>
    ): Effect.Effect<A, E | E2 | SqlError> =>
      Effect.catch(
        stored,
        Effect.fnUntraced(function* (error: E): Effect.fn.Return<A, E | E2 | SqlError> {
          const head = error instanceof NotFound ? yield* log.head(reference) : undefined
          return yield* head === undefined ? Effect.fail(error) : cold(head)
        })
      )
)

const refuse = ({ runId }: ColdHead) => Effect.fail(runReadOnly(runId))

/** Requires the management of the database's runs. */
const management = Layer.effect(
  RunManagement,
  Effect.gen(function* () {
    const stored = yield* RunManagement
    const orElse = yield* makeElse
    return RunManagement.of({
      ...stored,
      archive: (reference, caller) => orElse(reference, stored.archive(reference, caller), refuse),
      unarchive: (reference, caller) => orElse(reference, stored.unarchive(reference, caller), refuse),
      addArtifact: (reference, artifact, caller) =>
        orElse(reference, stored.addArtifact(reference, artifact, caller), refuse)
    })
  })
)

/** Requires the marks of the database's runs. */
const marks = Layer.effect(
  Marks,
  Effect.gen(function* () {
    const stored = yield* Marks
    const log = yield* ColdLog
    const orElse = yield* makeElse
    return Marks.of({
      add: (reference, mark, caller) => orElse(reference, stored.add(reference, mark, caller), refuse),
      list: (reference, query) =>
        orElse(reference, stored.list(reference, query), (head) =>
          Effect.flatMap(log.marks(head), (rows) => coldMarks(rows, query))
        ),
      remove: (reference, id, query, caller) => orElse(reference, stored.remove(reference, id, query, caller), refuse)
    })
  })
)

/** Requires the rebuild of the database's runs. */
const rebuild = Layer.effect(
  ProjectionRebuild,
  Effect.gen(function* () {
    const stored = yield* ProjectionRebuild
    const orElse = yield* makeElse
    return ProjectionRebuild.of({
      rebuild: (reference, caller) => orElse(reference, stored.rebuild(reference, caller), refuse)
    })
  })
)

/** Answers changes of a run that has left the database with 409, and reads its marks (docs/reference/archive.md). */
export const layer = Layer.mergeAll(management, marks, rebuild)
