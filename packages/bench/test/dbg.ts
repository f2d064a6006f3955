import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const child = spawn(process.execPath, [fileURLToPath(new URL("../src/runtime/main.ts", import.meta.url))], {
  stdio: ["ignore", 2, 2, "ipc"]
})
const next = () => new Promise<any>((r) => child.once("message", r))
const hello = await next()
console.log(hello)
const N = 5000
const run = async (id: string) => {
  child.send({ _tag: "Prepare", sessions: [id], envelopes: N })
  await next()
  await Effect.runPromise(
    Effect.gen(function* () {
      const rt = yield* RuntimeClient
      let n = 0,
        chunks = 0
      let t0 = 0
      yield* Effect.forkChild(
        Effect.promise(async () => {
          child.send({ _tag: "AwaitSubscribed", sessions: [id] })
          await next()
          t0 = performance.now()
          child.send({ _tag: "Release", sessions: [id] })
          await next()
        })
      )
      const c0 = process.cpuUsage()
      yield* rt.streamSession({ sessionId: id, afterSequence: 0 }).pipe(
        Stream.runForEachArray((c) =>
          Effect.sync(() => {
            n += c.length
            chunks++
          })
        ),
        Effect.raceFirst(
          Effect.gen(function* () {
            while (n < N) yield* Effect.sleep(1)
          })
        )
      )
      const ms = performance.now() - t0
      const c = process.cpuUsage(c0)
      console.log(
        N,
        "in",
        ms.toFixed(0),
        "ms",
        chunks,
        "chunks",
        ((N / ms) * 1000).toFixed(0),
        "/s; client cpu ms",
        (c.user + c.system) / 1000
      )
    }).pipe(
      Effect.provide(
        RuntimeClient.layerGrpc({ address: hello.address }).pipe(Layer.provide(RuntimeCredentials.layerNone))
      )
    )
  )
}
for (let i = 0; i < 5; i++) await run(`s${i}`)
child.kill()
