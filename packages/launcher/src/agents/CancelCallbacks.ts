import { createServer } from "node:net"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import type { Json } from "../common/Json.ts"
import { type CancelCallbackSettings, LauncherSettings } from "../LauncherSettings.ts"

/** Ports above the base that callbacks are spread over. */
const CALLBACK_PORT_SPREAD = 1024

/** How long an assigned port counts as in use, ms: its agent has to start before it listens. */
const PORT_RESERVED_MS = 60_000

const HIGHEST_PORT = 65_535
const BEARER_BYTES = 24

/** Address and bearer of the cancel requests to one agent: `cancel_callback` of its bootstrap file. */
export type CancelCallback = {
  readonly host: string
  /** 0: the agent chooses a port that only it knows. */
  readonly port: number
  readonly path: string
  readonly bearer: string
}

/**
 * Assigns the addresses at which the agents of a launch listen for cancel requests. The port is the base plus a hash
 * of run and participant, or the next one that is free.
 */
export class CancelCallbacks extends Context.Service<
  CancelCallbacks,
  {
    /** By participant id; empty when callbacks are off. */
    readonly assign: (
      runId: string,
      participantIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, CancelCallback>>
  }
>()("runplane/launcher/CancelCallbacks") {
  static readonly layer = Layer.effect(
    CancelCallbacks,
    Effect.gen(function* () {
      const { cancelCallback } = yield* LauncherSettings
      const random = yield* SecureRandom.SecureRandom
      if (cancelCallback === undefined) return CancelCallbacks.of({ assign: () => Effect.succeed(new Map()) })
      const { host, portBase } = cancelCallback
      const path = cancelCallback.path.startsWith("/") ? cancelCallback.path : `/${cancelCallback.path}`
      const isPublished = portBase > 0 && portBase <= HIGHEST_PORT
      /** Assigned ports, with the time until which they count as in use, epoch ms. */
      const reserved = new Map<number, number>()

      const assignOne = Effect.fnUntraced(function* (runId: string, participantId: string) {
        const port = isPublished ? yield* freePort(cancelCallback, `${runId}:${participantId}`, reserved) : 0
        const bearer = Base64Url.encode(yield* random.randomBytes(BEARER_BYTES))
        return [participantId, { host, port, path, bearer }] as const
      })

      return CancelCallbacks.of({
        assign: Effect.fn("CancelCallbacks.assign")(function* (runId, participantIds) {
          return new Map(yield* Effect.forEach(participantIds, (participantId) => assignOne(runId, participantId)))
        })
      })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

/** `session.metadata.cancelCallback` of the submitted descriptor; undefined when the port of the agent is unknown. */
export const publishedCallback = ({
  bearer,
  host,
  path,
  port
}: CancelCallback): { readonly [key: string]: Json } | undefined =>
  port === 0 ? undefined : { url: `http://${reachable(host)}:${port}${path}`, bearer }

/** The host part of an address that callers on this machine use. */
export const reachable = (host: string) => {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}

const freePort = Effect.fnUntraced(function* (
  { host, portBase }: CancelCallbackSettings,
  seed: string,
  reserved: Map<number, number>
) {
  const now = yield* Clock.currentTimeMillis
  for (const [port, until] of reserved) if (until <= now) reserved.delete(port)
  const spread = Math.max(1, Math.min(CALLBACK_PORT_SPREAD, HIGHEST_PORT - portBase + 1))
  const first = Math.abs(hash32(seed)) % spread
  for (let step = 0; step < spread; step++) {
    const port = portBase + ((first + step) % spread)
    if (reserved.has(port)) continue
    reserved.set(port, now + PORT_RESERVED_MS)
    if (!(yield* isInUse(host, port))) return port
  }
  return portBase + first
})

/** Whether the port is in use. False for a host of another machine: the agent reports that when it listens. */
const isInUse = (host: string, port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code === "EADDRINUSE")))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resume(Effect.succeed(false))))
  })

const hash32 = (text: string): number => {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}
