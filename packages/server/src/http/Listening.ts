import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import type { EdgeForm } from "./EdgeForm.ts"
import { answerRefusals, lenientServerOptions } from "./ServerRefusals.ts"

export interface ListenOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
}

/** The service cannot listen: the port is taken, or the address is not this machine's. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<
  ListenOptions & { readonly reason: string; readonly service: string | undefined }
> {
  override get message(): string {
    const subject = this.service === undefined ? "" : `${this.service} `
    return `${subject}cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

const listenFailed = (options: ListenOptions, service: string | undefined, { cause }: ServeError) => {
  const inUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE"
  const reason = inUse ? "the port is in use" : cause instanceof Error ? cause.message : String(cause)
  return new ListenFailed({ host: options.host, port: options.port, service, reason })
}

/** A Node.js server whose own refusals have the form of the service. */
const makeNodeServer = (form: EdgeForm) => {
  const server = createServer(lenientServerOptions)
  answerRefusals(server, form)
  return server
}

export interface ServerOptions {
  readonly form: EdgeForm
  /** Milliseconds that answers under way get at shutdown. */
  readonly graceMs: number
  /** What `ListenFailed` calls the service; undefined when there is only one it can be. */
  readonly service?: string
}

/**
 * The `HttpServer` of a service; its address has the port. Fails with `ListenFailed` when the port is unavailable.
 */
export const layerHttpServer = (options: ListenOptions, { form, graceMs, service }: ServerOptions) =>
  NodeHttpServer.layer(() => makeNodeServer(form), { ...options, gracefulShutdownTimeout: graceMs }).pipe(
    Layer.catchTag("ServeError", (error) => Layer.effectContext(Effect.fail(listenFailed(options, service, error))))
  )
