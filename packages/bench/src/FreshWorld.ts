import { createDatabase } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BenchDatabase } from "./BenchDatabase.ts"
import { RunsClient } from "./client/RunsClient.ts"
import { RuntimeProcess } from "./runtime/RuntimeProcess.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"

/** What a control plane needs: a scripted runtime, and the bench's own connections to its database. */
export const layerSurroundings = RuntimeProcess.layer.pipe(Layer.provideMerge(BenchDatabase.layerClient))

/**
 * An empty database on the same server and a runtime of its own, for what is measured in a process that has just been
 * started; the bench's common control plane has nothing to do meanwhile.
 */
export const inFreshSurroundings = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* BenchDatabase
    const url = yield* createDatabase(server.url)
    const surroundings = Layer.fresh(layerSurroundings).pipe(
      Layer.provideMerge(Layer.succeed(BenchDatabase, { ...server, url }))
    )
    return yield* Effect.provide(effect, surroundings)
  })

/** A control plane that lives as long as the effect runs, in the surroundings at hand. */
export const withControlPlane = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.provide(
    effect,
    Layer.fresh(RunsClient.layer.pipe(Layer.provideMerge(ControlPlaneProcess.layerWith(environment))))
  )
