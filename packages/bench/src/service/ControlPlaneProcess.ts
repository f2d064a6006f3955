import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BenchDatabase } from "../BenchDatabase.ts"
import { ChildFailed, startChild } from "../process/ChildProcess.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { ServiceForm } from "./ServiceForm.ts"
import { type ServiceCommand, ServiceReply } from "./ServiceProtocol.ts"

export interface Usage {
  /** User and system time of the whole process since it started. */
  readonly cpuSeconds: number
  /** Largest resident set so far, and the one now. */
  readonly peakBytes: number
  readonly residentBytes: number
}

/** What the process holds after a full collection. */
export interface Memory {
  readonly residentBytes: number
  readonly heapBytes: number
}

/** The service must limit neither the requests nor the streams of the bench. */
const REQUEST_LIMIT = 1_000_000_000
const STREAM_LIMIT = 2_000

/** A service in production has to have a key. */
const API_KEY = "key-of-the-bench"

const NAME = "control plane"
const NANOS_PER_MILLI = 1e6

/** The control plane under measurement, in a process of its own, on the bench's database and scripted runtime. */
export class ControlPlaneProcess extends Context.Service<
  ControlPlaneProcess,
  {
    /** Of its real port on the loopback. */
    readonly url: string
    /** What a request to it has to carry. */
    readonly headers: Readonly<Record<string, string>>
    /** Milliseconds from its start until its port was open. */
    readonly listeningAfter: number
    /** Milliseconds since its start. */
    readonly startedFor: Effect.Effect<number>
    readonly usage: Effect.Effect<Usage, ChildFailed>
    readonly memory: Effect.Effect<Memory, ChildFailed>
    /** Profiles the process while the effect runs; written to the file as a `.cpuprofile`. */
    readonly profiled: <A, E, R>(file: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ChildFailed, R>
  }
>()("runplane/bench/ControlPlaneProcess") {
  static readonly layer = Layer.suspend(() => ControlPlaneProcess.layerWith({}))

  /** With further settings. */
  static readonly layerWith = (environment: Readonly<Record<string, string>>) =>
    Layer.effect(ControlPlaneProcess, startControlPlane(environment))
}

/** The surroundings that the image gives the service without a limit (docs/reference/operations.md#memory). */
const AS_SHIPPED = {
  NODE_ENV: "production",
  NODE_OPTIONS: "--max-old-space-size=2000 --max-semi-space-size=16",
  MALLOC_ARENA_MAX: "2",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "131072"
}

/** Starts the service; it ends with the scope. */
const startControlPlane = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const form = yield* ServiceForm
  const database = yield* BenchDatabase
  const runtime = yield* RuntimeProcess
  const started = yield* Clock.monotonicTimeNanos
  const child = yield* startChild<ServiceCommand, ServiceReply>({
    name: NAME,
    entry: form.entry,
    environment: {
      ...AS_SHIPPED,
      LOG_LEVEL: "warn",
      HOST: "127.0.0.1",
      PORT: "0",
      DATABASE_URL: database.url,
      RUNTIME_ADDRESS: runtime.address,
      RUNTIME_ALLOW_INSECURE: "true",
      AUTH_API_KEYS: API_KEY,
      THROTTLE_LIMIT: String(REQUEST_LIMIT),
      STREAM_MAX_PER_KEY: String(STREAM_LIMIT),
      ...form.environment,
      ...environment
    },
    reply: ServiceReply
  })
  const { greeting } = child
  if (greeting._tag !== "Listening") {
    return yield* new ChildFailed({ name: NAME, reason: "did not say where it listens" })
  }
  const startedFor = Effect.map(Clock.monotonicTimeNanos, (now) => Number(now - started) / NANOS_PER_MILLI)
  const listeningAfter = yield* startedFor
  const memory = Effect.flatMap(child.call({ _tag: "Memory" }), (reply) =>
    reply._tag === "Memory"
      ? Effect.succeed(reply)
      : new ChildFailed({ name: NAME, reason: "did not say what it holds" })
  )
  const usage = Effect.flatMap(child.call({ _tag: "Usage" }), (reply) =>
    reply._tag === "Usage" ? Effect.succeed(reply) : new ChildFailed({ name: NAME, reason: "did not say what it uses" })
  )
  const profiled = <A, E, R>(file: string, effect: Effect.Effect<A, E, R>) =>
    child
      .call({ _tag: "StartProfile" })
      .pipe(Effect.andThen(effect), Effect.tap(child.call({ _tag: "StopProfile", file })))
  return ControlPlaneProcess.of({
    url: `http://127.0.0.1:${greeting.port}`,
    headers: { authorization: `Bearer ${API_KEY}` },
    listeningAfter,
    startedFor,
    usage,
    memory,
    profiled
  })
})
