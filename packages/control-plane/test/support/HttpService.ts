import { CircuitBreaker } from "@runplane/runtime"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { layerCapabilities } from "../../src/http/Capabilities.ts"
import { layerHttp } from "../../src/http/Server.ts"
import type { ObserverOptions } from "../../src/observer/ObserverSettings.ts"
import { layerMeters } from "../../src/telemetry/Meters.ts"
import { Metrics } from "../../src/telemetry/Metrics.ts"
import { layerTestObservation } from "./Observation.ts"
import { layerTestDatabase } from "./TestDatabase.ts"

export interface TestServiceOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly observer?: Partial<ObserverOptions>
  /** Any free one unless said. */
  readonly port?: number
}

/** Longer than any test: a run that a test puts into the database stays unobserved unless somebody adopts it. Milliseconds. */
const NO_TAKE_OVER_MS = 3_600_000

/** The whole service on a free port of the loopback: a database of its own, real observers, a runtime in memory. */
export const layerTestService = ({ observer, port, settings }: TestServiceOptions = {}) =>
  layerHttp({ host: "127.0.0.1", port: port ?? 0 }).pipe(
    Layer.provideMerge(layerCapabilities),
    Layer.provideMerge(
      layerTestObservation({
        discoveryEnabled: false,
        endCheckDelayMs: 50,
        drainTimeoutMs: 100,
        takeOverIntervalMs: NO_TAKE_OVER_MS,
        ...observer
      })
    ),
    Layer.provideMerge(CircuitBreaker.layerMemory()),
    Layer.provide(layerMeters.pipe(Layer.provideMerge(Metrics.layer))),
    Layer.provideMerge(layerTestDatabase),
    Layer.provide(
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { NODE_ENV: "test", THROTTLE_LIMIT: "100000", ...settings } }))
    )
  )

export const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed, when the text is JSON; of the type that the parser gives, so that tests can look into it. */
  readonly body: ReturnType<typeof JSON.parse>
}

export interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One request over the real port. */
export const call = Effect.fnUntraced(function* (method: string, path: string, { body, headers }: Call = {}) {
  const url = `${yield* baseUrl}${path}`
  return yield* Effect.promise(async (signal): Promise<Answer> => {
    const response = await fetch(url, {
      method,
      signal,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  })
})

/** A descriptor that passes; `session`, `execution` and the rest are merged over it. */
export const descriptor = (
  over: {
    readonly session?: Readonly<Record<string, unknown>>
    readonly execution?: Readonly<Record<string, unknown>>
    readonly [key: string]: unknown
  } = {}
) => ({
  mode: "live",
  runtime: { kind: "fake" },
  ...over,
  session: {
    modeName: "macp.mode.decision.v1",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60_000,
    participants: [{ id: "agent://lead" }, { id: "agent://risk" }],
    ...over.session
  },
  ...(over.execution === undefined ? {} : { execution: over.execution })
})
