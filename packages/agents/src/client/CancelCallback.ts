import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AgentFailure } from "./AgentFailure.ts"
import { Bootstrap, type BootstrapFile } from "./Bootstrap.ts"

/** Bytes of a cancel request's body. */
const MAX_BODY_BYTES = 65_536

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
 * Serves the cancel callback (launch-details section 7.3) and ends after the first request that `onCancel` carried out. Never
 * ends when the bootstrap file names no callback.
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
    return Effect.callback<void, CallbackUnavailable>((resume) => {
      const server = createServer((request, response) => {
        if (request.method !== "POST" || request.url !== callback.path) return answer(response, 404)
        if (!isAllowed(request, callback)) return answer(response, 401)
        readReason(request)
          .then((reason) => run(onCancel(reason)))
          .then(
            () => answer(response, 202, '{"ok":true}', () => resume(Effect.void)),
            () => answer(response, 500)
          )
      })
      const { host, port } = callback
      server.once("error", (cause) => resume(new CallbackUnavailable({ host, port, cause })))
      server.listen(port, host)
      return Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    })
  })

const isAllowed = ({ headers }: IncomingMessage, { bearer }: Callback): boolean =>
  bearer === undefined || headers.authorization === `Bearer ${bearer}`

const answer = (response: ServerResponse, status: number, body = "", sent: () => void = () => undefined): void => {
  response.writeHead(status, body === "" ? {} : { "content-type": "application/json" }).end(body, sent)
}

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
