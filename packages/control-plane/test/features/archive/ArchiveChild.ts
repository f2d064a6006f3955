/**
 * A process that archives DATABASE_URL into ARCHIVE_FOLDER in one pass, and kills itself with signal 9 at the
 * ARCHIVE_KILL_COUNT-th time that it comes to the step ARCHIVE_KILL_STEP.
 */

import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ArchiveStore, type ArchiveTarget, fileTarget } from "@runplane/archive"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ArchiveOptions } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveState } from "../../../src/features/archive/ArchiveState.ts"
import { ArchiveWriter } from "../../../src/features/archive/ArchiveWriter.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { type KillStep, SMALL_FILES } from "./KillSteps.ts"

const { ARCHIVE_FOLDER = "", ARCHIVE_KILL_COUNT = "1", ARCHIVE_KILL_STEP, DATABASE_URL = "" } = process.env

let left = Number(ARCHIVE_KILL_COUNT)

/** Kills this process at once; no finalizer runs. */
const at = (step: KillStep) =>
  Effect.suspend(() => {
    if (step !== ARCHIVE_KILL_STEP) return Effect.void
    left -= 1
    if (left > 0) return Effect.void
    process.kill(process.pid, "SIGKILL")
    return Effect.never
  })

const target = fileTarget(ARCHIVE_FOLDER)

/** What a process leaves that is killed while it writes. */
const writeHalf = (path: string, bytes: Uint8Array) =>
  Effect.promise(async () => {
    const folder = dirname(join(ARCHIVE_FOLDER, path))
    await mkdir(folder, { recursive: true })
    await writeFile(
      join(folder, `.${path.slice(path.lastIndexOf("/") + 1)}.half.tmp`),
      bytes.subarray(0, bytes.length / 2)
    )
  })

const killed: ArchiveTarget = {
  ...target,
  put: (path, bytes) =>
    at("before-file").pipe(
      Effect.andThen(ARCHIVE_KILL_STEP === "half-file" && left === 1 ? writeHalf(path, bytes) : Effect.void),
      Effect.andThen(at("half-file")),
      Effect.andThen(target.put(path, bytes)),
      Effect.andThen(at("after-file"))
    )
}

const layerState = Layer.effect(
  ArchiveState,
  Effect.map(ArchiveState, (state) =>
    ArchiveState.of({
      ...state,
      planEvents: (after, range) => Effect.andThen(at("before-plan"), state.planEvents(after, range)),
      planChanges: (table, changed) => Effect.andThen(at("before-plan"), state.planChanges(table, changed)),
      complete: (range, files, also) =>
        state.complete(range, files, Effect.andThen(also, at("in-commit"))).pipe(Effect.tap(at("after-commit")))
    })
  )
).pipe(Layer.provide(ArchiveState.layer))

const Child = ArchiveWriter.layer.pipe(
  Layer.provide(layerState),
  Layer.provide([
    Layer.succeed(ArchiveStore, killed),
    Layer.succeed(ArchiveOptions, SMALL_FILES),
    layerDatabase({ url: DATABASE_URL, maxConnections: 3, migrateOnStart: false })
  ])
)

NodeRuntime.runMain(
  Effect.provide(
    ArchiveWriter.use(({ pass }) => pass),
    Child
  )
)
