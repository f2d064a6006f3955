import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { layerFromSettings } from "@runplane/control-plane"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { serveParent } from "../src/process/ParentLink.ts"
import { ServiceCommand, type ServiceReply } from "../src/service/Protocol.ts"

const done: ServiceReply = { _tag: "Done" }
let log: Array<[string, number, number]> = []
let on = false
const tracer = Tracer.make({
  span(options: any) {
    const span: any = new (Tracer as any).NativeSpan(options)
    const end = span.end.bind(span)
    const t0 = performance.now()
    span.end = (t: bigint, e: Exit.Exit<unknown, unknown>) => {
      if (on) {
        const q = span.attributes.get("db.query.text") ?? span.name
        log.push([String(q).replace(/\s+/g, " ").trim().slice(0, 40), t0, performance.now() - t0])
      }
      end(t, e)
    }
    return span
  }
})
const program = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const answer = (command: ServiceCommand): Effect.Effect<ServiceReply> => {
    switch (command._tag) {
      case "Usage": {
        on = !on
        if (!on) {
          const sums = new Map<string, [number, number]>()
          for (const [q, , d] of log) {
            const s = sums.get(q) ?? [0, 0]
            s[0]++
            s[1] += d
            sums.set(q, s)
          }
          for (const [q, s] of [...sums].sort((a, b) => b[1][1] - a[1][1]).slice(0, 14))
            console.error(q.padEnd(42), s[0], s[1].toFixed(1), "ms", (s[1] / s[0]).toFixed(2))
        }
        log = []
        const u = process.resourceUsage()
        return Effect.succeed({
          _tag: "Usage",
          cpuSeconds: (u.userCPUTime + u.systemCPUTime) / 1e6,
          peakBytes: u.maxRSS * 1024
        })
      }
      default:
        return Effect.succeed(done)
    }
  }
  yield* serveParent({
    greeting: { _tag: "Listening", port: "port" in address ? address.port : 0 } as ServiceReply,
    command: ServiceCommand,
    answer
  })
})
NodeRuntime.runMain(
  program.pipe(
    Effect.scoped,
    Effect.provide(layerFromSettings),
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )
)
