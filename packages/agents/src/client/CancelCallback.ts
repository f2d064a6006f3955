import { createHash, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AgentFailure } from "./AgentFailure.ts"
import { Bootstrap, type BootstrapFile } from "./Bootstrap.ts"

/** Bytes of a cancel request's body. */
const MAX_BODY_BYTES = 65_536

/** Milliseconds that an agent which has otherwise ended waits for its answer to a cancel request to leave. */
const ANSWER_WAIT_MS = 1_000

/** The cancel callback of the bootstrap file cannot be served, for example because its port is taken. */
export class CallbackUnavailable extends Data.TaggedError("CallbackUnavailable")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message() {
    return `the cancel callback cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

type Callback = NonNullable<BootstrapFile["cancel_callback"]>

/**
 * Serves the cancel callback and ends after the first request that `onCancel` carried out. Never ends when the
 * bootstrap file names no callback. An interruption waits for the answer of a request in progress, because the
 * cancellation by that request ends the agent's other work.
 */
export const cancelRequested = <R>(
  onCancel: (reason: string) => Effect.Effect<void, AgentFailure, R>
): Effect.Effect<void, CallbackUnavailable, Bootstrap | R> =>
  Effect.flatMap(Bootstrap, ({ cancel_callback: callback }) =>
    callback === undefined ? Effect.never : serve(callback, onCancel)
  )

const serve = <R>(callback: Callback, onCancel: (reason: string) => Effect.Effect<void, AgentFailure, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) => {
    const run = Effect.runPromiseWith(context)
    const cancel = (reason: string) =>
      run(Effect.tapError(onCancel(reason), ({ message }) => Console.error(`the cancel request failed: ${message}`)))
    const server = createServer()
    const underWay = new Set<Promise<void>>()
    const cancelled = Effect.callback<void, CallbackUnavailable>((resume) => {
      server.on("request", (request, response) => {
        if (request.method !== "POST" || request.url !== callback.path) return void answer(response, 404)
        if (!isAllowed(request, callback)) return void answer(response, 401)
        const done = readReason(request)
          .then(cancel)
          .then(
            () => answer(response, 202, '{"ok":true}').then(() => resume(Effect.void)),
            () => answer(response, 500)
          )
          .finally(() => underWay.delete(done))
        underWay.add(done)
      })
      const { host, port } = callback
      server.once("error", (cause) => resume(new CallbackUnavailable({ host, port, cause })))
      server.listen(port, host)
    })
    return Effect.ensuring(
      cancelled,
      Effect.andThen(
        Effect.timeoutOption(
          Effect.promise(() => Promise.all(underWay)),
          ANSWER_WAIT_MS
        ),
        close(server)
      )
    )
  })

/** A connection that its caller keeps open would keep the agent's process alive. */
const close = (server: Server) =>
  Effect.sync(() => {
    server.close()
    server.closeAllConnections()
  })

const isAllowed = ({ headers }: IncomingMessage, { bearer }: Callback): boolean =>
  bearer === undefined || timingSafeEqual(digest(headers.authorization ?? ""), digest(`Bearer ${bearer}`))

/** Of one length for every text, so that the comparison reveals nothing about it. */
const digest = (text: string) => createHash("sha256").update(text).digest()

/** Ends when the answer was sent, or the connection has closed. */
const answer = (response: ServerResponse, status: number, body = ""): Promise<void> =>
  new Promise((resolve) => {
    if (response.closed) return resolve()
    response.once("close", resolve)
    response.writeHead(status, body === "" ? {} : { "content-type": "application/json" }).end(body)
  })

const decodeBody = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ reason: Schema.optional(Schema.NullOr(Schema.String)) }))
)

/** A missing or unreadable body means no reason. */
const readReason = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > MAX_BODY_BYTES) throw new RangeError("the body of the cancel request is too large")
  }
  return Option.getOrUndefined(decodeBody(text))?.reason ?? ""
}
