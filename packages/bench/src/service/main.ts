import { writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { layerFromSettings } from "@runplane/control-plane"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { serveParent } from "../process/ParentLink.ts"
import { ServiceCommand, type ServiceReply } from "./ServiceProtocol.ts"

/** Microseconds between two samples. */
const SAMPLING_INTERVAL_US = 200

/** V8's sampling profiler for this process: start it right before what is to be seen, stop it right after. */
const makeProfiler = Effect.gen(function* () {
  const session = yield* Effect.acquireRelease(
    Effect.sync(() => new Session()),
    (opened) => Effect.sync(() => opened.disconnect())
  )
  const start = Effect.promise(async () => {
    session.connect()
    await session.post("Profiler.enable")
    await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US })
    await session.post("Profiler.start")
  })
  const stop = (file: string) =>
    Effect.promise(async () => {
      const { profile } = await session.post("Profiler.stop")
      session.disconnect()
      writeFileSync(file, JSON.stringify(profile))
    })
  return { start, stop }
})

const done: ServiceReply = { _tag: "Done" }
/** V8 shows the function only in a context that is made after the flag is set. */
const collectorOf = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  return () => (typeof collect === "function" ? collect() : undefined)
}
/** V8 gives emptied pages back in the background. */
const GIVEN_BACK_AFTER = Duration.seconds(5)
const BYTES_PER_KIB = 1024
const MICROS_PER_SECOND = 1e6

/** The whole control plane from its settings, as its own `main.ts` runs it, with the commands of the bench. */
const program = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const profiler = yield* makeProfiler
  const usage = Effect.sync((): ServiceReply => {
    const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
    return {
      _tag: "Usage",
      cpuSeconds: (userCPUTime + systemCPUTime) / MICROS_PER_SECOND,
      peakBytes: maxRSS * BYTES_PER_KIB,
      residentBytes: process.memoryUsage.rss()
    }
  })
  const collect = yield* Effect.sync(collectorOf)
  const memory = Effect.gen(function* () {
    // What finalizers of the first let go is collected by the second.
    collect()
    collect()
    yield* Effect.sleep(GIVEN_BACK_AFTER)
    const { heapUsed, rss } = process.memoryUsage()
    return { _tag: "Memory", residentBytes: rss, heapBytes: heapUsed } satisfies ServiceReply
  })
  const answer = (command: ServiceCommand): Effect.Effect<ServiceReply> => {
    switch (command._tag) {
      case "Usage":
        return usage
      case "Memory":
        return memory
      case "StartProfile":
        return Effect.as(profiler.start, done)
      case "StopProfile":
        return Effect.as(profiler.stop(command.file), done)
    }
  }
  const port = "port" in address ? address.port : 0
  yield* serveParent({ greeting: { _tag: "Listening", port }, command: ServiceCommand, answer })
})

const quiet = Layer.succeed(References.MinimumLogLevel, "Warn")

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(layerFromSettings), Effect.provide(quiet)))
