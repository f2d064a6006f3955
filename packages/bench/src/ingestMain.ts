/*
 * What the ingest of OpenTelemetry costs, and how late the events of observed runs are beside it
 * (docs/internals/scale.md#spans).
 */

import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "./BenchDatabase.ts"
import { inFreshSurroundings, withControlPlane } from "./FreshWorld.ts"
import { alone, bulk, endless, largeBodies, paced, SETTINGS } from "./ingest/IngestMeasures.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"
import { ServiceForm } from "./service/ServiceForm.ts"

interface Options {
  readonly spans: number
  readonly rate: number
  readonly seconds: number
  readonly traces: number
  readonly bodies: number
  readonly only: string
  readonly profile: string
  readonly source: boolean
}

const program = Effect.fnUntraced(function* ({ bodies, only, profile, rate, seconds, spans, traces }: Options) {
  const measures = [
    // The first one is not measured: it compiles the code of the service.
    { name: "bulk", measure: Effect.andThen(bulk(spans / 5), bulk(spans)) },
    { name: "alone", measure: alone(seconds) },
    { name: "paced", measure: paced(rate, seconds) },
    { name: "large", measure: largeBodies(bodies) },
    { name: "endless", measure: endless(traces) }
  ].filter(({ name }) => name.includes(only))
  if (profile !== "") yield* Effect.sync(() => mkdirSync(profile, { recursive: true }))
  for (const { measure, name } of measures) {
    const inProcess = Effect.gen(function* () {
      const service = yield* ControlPlaneProcess
      const file = join(profile, `ingest-${name}.cpuprofile`)
      yield* Console.log(yield* profile === "" ? measure : service.profiled(file, measure))
    })
    yield* Effect.scoped(inFreshSurroundings(withControlPlane(inProcess, SETTINGS)))
  }
})

const command = Command.make(
  "npm run bench:ingest --",
  {
    spans: Flag.Int("spans").pipe(Flag.withDescription("Spans sent at once"), Flag.withDefault(10_000)),
    rate: Flag.Int("rate").pipe(Flag.withDescription("Spans a second beside observed runs"), Flag.withDefault(2_000)),
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Of that rate"), Flag.withDefault(20)),
    bodies: Flag.Int("bodies").pipe(Flag.withDescription("Bodies of 30 MiB"), Flag.withDefault(4)),
    traces: Flag.Int("traces").pipe(Flag.withDescription("Traces that never end"), Flag.withDefault(5_000)),
    only: Flag.String("only").pipe(Flag.withDescription("Measures whose name holds this"), Flag.withDefault("")),
    profile: Flag.String("profile").pipe(Flag.withDescription("Folder of CPU profiles"), Flag.withDefault("")),
    source: Flag.Boolean("source").pipe(
      Flag.withDescription("The service from source instead of its bundle"),
      Flag.withDefault(false)
    )
  },
  (options: Options) =>
    program(options).pipe(
      Effect.scoped,
      Effect.provide([BenchDatabase.layer, options.source ? ServiceForm.layerSource : ServiceForm.layerBundle])
    )
).pipe(Command.withDescription("Measures the ingest of OpenTelemetry: bulk, alone, paced, large and endless."))

NodeRuntime.runMain(Command.run(command, { version: RUNPLANE_VERSION }).pipe(Effect.provide(NodeServices.layer)))
