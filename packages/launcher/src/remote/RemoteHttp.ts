import { lookup } from "node:dns"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { guardedLookup, reasonOf, refusalOf, TargetRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { LauncherSettings } from "../LauncherSettings.ts"

/** A call of an agent that did not do what it should. Its text has no credential and no text of the agent. */
export class RemoteFailure extends Data.TaggedError("RemoteFailure")<{
  /** `away` may go better later; `refused` never does; `not-found` is a task that the agent does not know. */
  readonly kind: "away" | "refused" | "not-found" | "too-large"
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** An answer with its whole body, within the bound. */
export interface RemoteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** How much of an answer is read, and how long it may take. */
export interface Bounds {
  readonly maxBytes: number
  /** Until the headers, and from there until the end of the body. */
  readonly timeoutMs: number
}

/** How the names of agents are resolved. */
export const NameResolver = Context.Reference<typeof lookup>("runplane/launcher/NameResolver", {
  defaultValue: () => lookup
})

/**
 * Requests to agents of others. The connection uses the very address that was checked, no redirect is followed, and no
 * answer is read beyond its bound.
 */
export class RemoteHttp extends Context.Service<
  RemoteHttp,
  {
    readonly allowsPrivate: boolean
    readonly send: (
      request: HttpClientRequest.HttpClientRequest,
      bounds: Bounds
    ) => Effect.Effect<RemoteAnswer, RemoteFailure>
    /** The body of an event stream, or the whole answer of one that is none. */
    readonly open: (
      request: HttpClientRequest.HttpClientRequest,
      bounds: Bounds
    ) => Effect.Effect<
      | { readonly _tag: "Events"; readonly bytes: Stream.Stream<Uint8Array, RemoteFailure> }
      | { readonly _tag: "Answer"; readonly answer: RemoteAnswer },
      RemoteFailure,
      Scope.Scope
    >
  }
>()("runplane/launcher/RemoteHttp") {
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const { allowPrivateAgents } = yield* LauncherSettings
      const resolve = yield* NameResolver
      return Layer.effect(RemoteHttp, make(allowPrivateAgents)).pipe(
        Layer.provide(NodeHttpClient.layerNodeHttpOptions({ lookup: guardedLookup(allowPrivateAgents, resolve) }))
      )
    })
  )
}

const make = Effect.fnUntraced(function* (allowsPrivate: boolean) {
  // The end of the scope of a request closes its connection, whatever the agent still sends.
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)

  const execute = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, timeoutMs: number) {
    const refusal = refusalOf(request.url, allowsPrivate)
    if (refusal !== undefined) return yield* new RemoteFailure({ kind: "refused", reason: refusal.message })
    return yield* client.execute(request).pipe(
      Effect.mapError(failureOf),
      // Node throws on a request that it cannot send.
      Effect.catchDefect((defect) =>
        Effect.fail(new RemoteFailure({ kind: "refused", reason: defect instanceof Error ? defect.message : "defect" }))
      ),
      Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.fail(timedOut(timeoutMs)) }),
      // The agent is of others: our trace is in the header that the caller sets.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
  })

  const whole = Effect.fnUntraced(function* (
    response: Effect.Success<ReturnType<typeof execute>>,
    { maxBytes, timeoutMs }: Bounds
  ) {
    const text = yield* boundedText(response.stream, maxBytes).pipe(
      Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.fail(timedOut(timeoutMs)) })
    )
    const answer: RemoteAnswer = { status: response.status, headers: response.headers, text }
    return answer
  })

  return RemoteHttp.of({
    allowsPrivate,
    send: (request, bounds) =>
      Effect.scoped(Effect.flatMap(execute(request, bounds.timeoutMs), (response) => whole(response, bounds))),
    open: Effect.fnUntraced(function* (request, bounds) {
      const response = yield* execute(request, bounds.timeoutMs)
      const isStream = (response.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream")
      if (!isStream || response.status !== 200)
        return { _tag: "Answer", answer: yield* whole(response, bounds) } as const
      return { _tag: "Events", bytes: Stream.mapError(response.stream, failureOf) } as const
    })
  })
})

export const timedOut = (ms: number) => new RemoteFailure({ kind: "away", reason: `no answer within ${ms} ms` })

/** A name that resolves to an address that may not be called is refused, every other failure may pass. */
const failureOf = (error: HttpClientError): RemoteFailure => {
  const cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  return cause instanceof TargetRefused
    ? new RemoteFailure({ kind: "refused", reason: cause.message })
    : new RemoteFailure({ kind: "away", reason: reasonOf(error) })
}

const boundedText = (stream: Stream.Stream<Uint8Array, HttpClientError>, maxBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    return stream.pipe(
      Stream.mapError(failureOf),
      Stream.runForEach((chunk) => {
        bytes += chunk.length
        if (bytes > maxBytes) {
          return Effect.fail(new RemoteFailure({ kind: "too-large", reason: `the answer is over ${maxBytes} bytes` }))
        }
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => Buffer.concat(chunks).toString("utf8"))
    )
  })
