import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type CancelCallback, CancelCallbacks, publishedCallback } from "../../src/agents/CancelCallbacks.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const RUN = "0b0e3f5e-7f0c-4b57-8f1e-3f1d0f2f9a11"

/** What a service with this port base assigns to the participants of a run. */
const assigned = (portBase: number, participants: ReadonlyArray<string>, path = "/agent/cancel") =>
  Effect.flatMap(CancelCallbacks, (callbacks) => callbacks.assign(RUN, participants)).pipe(
    Effect.provide(
      Layer.fresh(CancelCallbacks.layer).pipe(
        Layer.provide(settingsLayer({ cancelCallback: { host: "127.0.0.1", portBase, path } }))
      )
    )
  )

const portOf = (callbacks: ReadonlyMap<string, CancelCallback>, participant: string) =>
  callbacks.get(participant)?.port ?? assert.fail(`nothing for ${participant}`)

const occupy = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const server = createServer()
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(() => server.close())))
    }),
    (close) => Effect.sync(close)
  )

describe("the cancel callbacks of a launch", () => {
  it.live("have stable ports above the base, another for each participant, and bearers of their own", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 40 }, (_, position) => `participant-${position}`)
      const first = yield* assigned(24_200, names)
      const ports = names.map((name) => portOf(first, name))
      assert.strictEqual(new Set(ports).size, names.length)
      assert.isTrue(ports.every((port) => port >= 24_200 && port < 24_200 + 1_024))
      assert.strictEqual(new Set([...first.values()].map(({ bearer }) => bearer)).size, names.length)
      assert.strictEqual(portOf(yield* assigned(24_200, ["participant-0"]), "participant-0"), ports[0])
    })
  )

  it.live("avoid a port that is in use already", () =>
    Effect.gen(function* () {
      const wanted = portOf(yield* assigned(24_200, ["lead"]), "lead")
      yield* occupy(wanted)
      assert.strictEqual(portOf(yield* assigned(24_200, ["lead"]), "lead"), wanted + 1)
    })
  )

  it.live("are chosen by the agents, and not published, without a base that is a port", () =>
    Effect.gen(function* () {
      for (const base of [0, 70_000]) {
        const callback = (yield* assigned(base, ["lead"])).get("lead")
        assert.strictEqual(callback?.port, 0)
        assert.isUndefined(callback && publishedCallback(callback))
      }
    })
  )

  it.live("have a path that starts with a slash, and an address that can be called", () =>
    Effect.gen(function* () {
      const callback = (yield* assigned(24_200, ["lead"], "stop")).get("lead")
      assert.isDefined(callback)
      assert.strictEqual(callback.path, "/stop")
      const urlOf = (host: string) => publishedCallback({ ...callback, host })?.["url"]
      assert.strictEqual(urlOf("0.0.0.0"), `http://127.0.0.1:${callback.port}/stop`)
      assert.strictEqual(urlOf("::1"), `http://[::1]:${callback.port}/stop`)
    })
  )
})
