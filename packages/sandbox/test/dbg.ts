import { create } from "@bufbuild/protobuf"
import { createClient } from "@connectrpc/connect"
import { createGrpcTransport } from "@connectrpc/connect-node"
import { MACPRuntimeService, WatchSessionsRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { Sandbox } from "../src/Sandbox.ts"
import { envelope, evaluation, proposal, startPayload } from "./support/Envelopes.ts"
await Effect.runPromise(Effect.scoped(Effect.gen(function*(){
  const { address } = yield* Sandbox
  yield* Effect.promise(async () => {
    const mk = () => createClient(MACPRuntimeService, createGrpcTransport({ baseUrl: `http://${address}` }))
    const headers = { authorization: "Bearer agent://lead" }
    const client = mk()
    const drive = async (sessionId: string, n: number, conc: number) => {
      await client.send({ envelope: envelope("SessionStart", "m1", startPayload(), { sessionId }) }, { headers })
      const obs = mk()
      const ac = new AbortController()
      let seen = 0
      const done = (async () => {
        async function* req() { yield { subscribeSessionId: sessionId }; await new Promise(() => {}) }
        for await (const _ of obs.streamSession(req() as never, { headers: { authorization: "Bearer control-plane" }, signal: ac.signal })) { seen++; if (seen === n + 2) return }
      })()
      await client.send({ envelope: envelope("Proposal", "m2", proposal(), { sessionId }) }, { headers })
      let next = 0
      await Promise.all(Array.from({ length: conc }, async () => { while (next < n) { const i = next++; const r = await client.send({ envelope: envelope("Evaluation", `e${i}`, evaluation(), { sessionId }) }, { headers }); if (!r.ack?.ok) throw new Error(r.ack?.error?.code) } }))
      await done
      return seen
    }
    for (const round of [1,2]) {
      let t = performance.now()
      await drive("one-session-of-the-bench-000" + round, 5000, 64)
      console.log("1 session 5000:", Math.round(performance.now() - t), "ms")
      t = performance.now()
      await Promise.all(Array.from({ length: 32 }, (_, i) => drive(`many-session-of-the-bench-${round}-${i}`, 160, 4)))
      console.log("32 sessions x160:", Math.round(performance.now() - t), "ms")
    }
    // many streams
    const streams = Array.from({ length: 6 }, () => mk()).flatMap((c) => Array.from({ length: 100 }, () => c))
    const acs = streams.map((c) => { const ac = new AbortController(); (async () => { try { for await (const _ of c.watchSessions({}, { headers, signal: ac.signal })) {} } catch {} })(); return ac })
    await new Promise((r) => setTimeout(r, 1500))
    acs.forEach((a) => a.abort())
    await new Promise((r) => setTimeout(r, 500))
    console.log("rss", Math.round(process.memoryUsage().rss / 1e6))
    process.exit()
  })
}).pipe(Effect.provide(Sandbox.layer({port:0, sessionBuffer: 10000})))))
