import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as PgClient from "@effect/sql-pg/PgClient"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerBench } from "./Bench.ts"
import { BenchDatabase } from "./BenchDatabase.ts"
import { measured } from "./Measurement.ts"
import { startChild } from "./process/ChildProcess.ts"
import { number } from "./Report.ts"
import { copyRun } from "./reads/BigDatabase.ts"
import { load } from "./reads/HttpLoad.ts"
import { MEASURES, type Measure } from "./reads/Measures.ts"
import { type PlainCommand, PlainReply } from "./reads/PlainProtocol.ts"
import { RuntimeProcess } from "./runtime/RuntimeProcess.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./scenarios/Fleet.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"
import { ServiceForm } from "./service/ServiceForm.ts"

interface Options {
  readonly runs: number
  readonly envelopes: number
  readonly days: number
  readonly connections: number
  readonly seconds: number
  readonly only: string
  readonly profile: string
}

const WARM_UP_SECONDS = 1
/** Runs that are read by their ids. */
const READ_RUNS = 2_000
const BYTES_PER_MIB = 1024 * 1024

/** One ended run, written by the service itself. */
const templateRun = Effect.fnUntraced(function* (envelopes: number) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(1, envelopes)
  yield* runtime.run({ _tag: "Release", sessions: fleet.sessions })
  yield* awaitEnvelopes(fleet, envelopes)
  yield* closeFleet(fleet)
  return fleet.runIds[0] ?? ""
})

const program = Effect.fnUntraced(function* ({ connections, days, envelopes, only, profile, runs, seconds }: Options) {
  const sql = yield* PgClient.PgClient
  const service = yield* ControlPlaneProcess
  const plain = yield* startChild<PlainCommand, PlainReply>({
    name: "plain server",
    entry: new URL("./reads/plainServer.ts", import.meta.url),
    environment: {},
    reply: PlainReply
  })
  const { events } = yield* copyRun(yield* templateRun(envelopes), { runs: runs - 1, days })
  yield* Console.log(`${number(runs)} runs over ${days} days, ${number(events)} events, ${connections} connections`)
  const ids = yield* sql<{ readonly id: string }>`SELECT id::text AS id FROM runs LIMIT ${READ_RUNS}`
  const runIds = ids.map(({ id }) => id)
  if (profile !== "") yield* Effect.sync(() => mkdirSync(profile, { recursive: true }))

  const measure = Effect.fnUntraced(function* ({ aim, aimP99, name, path }: Measure, index: number) {
    const options = { connections, seconds, path: (request: number) => path(request, runIds) }
    const target = { ...options, url: service.url, headers: service.headers }
    yield* load({ ...target, seconds: WARM_UP_SECONDS })
    const alone = yield* load({ ...target, connections: 1, seconds: WARM_UP_SECONDS })
    const { cost, value: found } = yield* measured(
      profile === "" ? load(target) : service.profiled(join(profile, `reads-${index + 1}.cpuprofile`), load(target))
    )
    const perRequest = (cpuSeconds: number) => number((cpuSeconds * 1_000) / found.millis.count)
    yield* plain.call({ _tag: "Answer", body: found.body.toString("base64") })
    const port = plain.greeting._tag === "Listening" ? plain.greeting.port : 0
    const ceiling = yield* load({ ...target, url: `http://127.0.0.1:${port}` })
    yield* Console.log(
      `${name}: ${number(found.perSecond)}/s, p50 ${number(found.millis.p50)}, p99 ${number(found.millis.p99)} ms; ` +
        `alone p50 ${number(alone.millis.p50)} ms; ${found.body.length} bytes; ` +
        `plain ${number(ceiling.perSecond)}/s = ${number(found.perSecond / ceiling.perSecond)} of it; ` +
        `CPU of a request: service ${perRequest(cost.serviceCpu)} ms` +
        (cost.databaseCpu === undefined ? "" : `, database ${perRequest(cost.databaseCpu)} ms`) +
        `; peak ${number(cost.peakBytes / BYTES_PER_MIB)} MiB` +
        (aim === undefined ? "" : `; aim ${number(aim)}/s: ${found.perSecond >= aim ? "pass" : "MISS"}`) +
        (aimP99 === undefined ? "" : `; aim p99 ${aimP99} ms: ${found.millis.p99 <= aimP99 ? "pass" : "MISS"}`)
    )
  })
  const chosen = MEASURES.filter(({ name }) => name.includes(only))
  yield* Effect.forEach(chosen, measure, { discard: true })
})

const command = Command.make(
  "npm run bench:reads --",
  {
    runs: Flag.Int("runs").pipe(Flag.withDescription("Runs in the database"), Flag.withDefault(2_000)),
    envelopes: Flag.Int("envelopes").pipe(Flag.withDescription("Envelopes of each run"), Flag.withDefault(20)),
    days: Flag.Int("days").pipe(Flag.withDescription("Days that the runs are spread over"), Flag.withDefault(1)),
    connections: Flag.Int("connections").pipe(Flag.withDefault(16)),
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Of each measure"), Flag.withDefault(5)),
    only: Flag.String("only").pipe(Flag.withDescription("Measures whose name holds this"), Flag.withDefault("")),
    profile: Flag.String("profile").pipe(Flag.withDescription("Folder of CPU profiles"), Flag.withDefault(""))
  },
  (options: Options) =>
    program(options).pipe(
      Effect.scoped,
      Effect.provide(layerBench.pipe(Layer.provideMerge([BenchDatabase.layer, ServiceForm.layerBundle])))
    )
).pipe(
  Command.withDescription(
    "Measures reads on a database of so many runs, copies of one that the service has written. " +
      "Ten million events: --runs 200000 --days 30 (20 minutes, 20 GB)."
  )
)

NodeRuntime.runMain(Command.run(command, { version: RUNPLANE_VERSION }).pipe(Effect.provide(NodeServices.layer)))
