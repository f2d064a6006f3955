import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { EdgeForm, RefusalKind } from "./EdgeForm.ts"
import { securityHeaders } from "./SecurityHeaders.ts"

/** What a server refuses by itself, before a request exists that the edge could see. */
interface Refusal {
  readonly status: number
  readonly reason: string
  readonly kind: RefusalKind
  readonly message: string
}

const BAD_REQUEST = "Bad Request"

const MALFORMED: Refusal = { status: 400, reason: BAD_REQUEST, kind: "invalid", message: "malformed HTTP request" }

/** By the code of the error that Node.js gives. */
const refusals: ReadonlyMap<string, Refusal> = new Map([
  [
    "HPE_HEADER_OVERFLOW",
    {
      status: 431,
      reason: "Request Header Fields Too Large",
      kind: "too-large",
      message: "request head is too large"
    }
  ],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    { status: 413, reason: "Payload Too Large", kind: "too-large", message: "chunk extensions are too large" }
  ],
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    { status: 408, reason: "Request Timeout", kind: "invalid", message: "request took too long to arrive" }
  ]
])

const EXPECTATION: Refusal = {
  status: 417,
  reason: "Expectation Failed",
  kind: "invalid",
  message: "the only expectation known is 100-continue"
}

/** A request may come before the routes are there, which takes a moment after the port is open, and after they went. */
const NOT_SERVING: Refusal = {
  status: 503,
  reason: "Service Unavailable",
  kind: "unavailable",
  message: "the service is starting or stopping; retry in a second"
}

const CONTENT_TYPE = "application/json"

/** How long a request may take to arrive, body included, milliseconds: a slower one only holds a connection. */
const REQUEST_TIMEOUT_MS = 30_000

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Options of a Node.js server that refuses as little as possible by itself: a missing `Host` is not refused, because
 * nothing here reads it; an `Upgrade` is not followed, and the request is answered without it.
 */
export const lenientServerOptions = {
  requireHostHeader: false,
  shouldUpgradeCallback: () => false,
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 5_000
}

/**
 * Gives a Node.js server's own refusals the error form of the service: bytes that are not HTTP, heads that are too
 * large, requests that do not arrive, expectations that cannot be met, requests before the routes are ready
 * (docs/reference/errors.md#error-bodies, docs/reference/http.md#start).
 */
export const answerRefusals = (server: Server, form: EdgeForm): void => {
  const answers = new WeakMap<Duplex, ServerResponse>()
  const remember: RequestListener = (request, response) => {
    answers.set(request.socket, response)
    // Broken bytes that follow an answered request must not get a second answer.
    response.once("close", () => request.complete && answers.delete(request.socket))
  }
  const refuse = (refusal: Refusal, response: ServerResponse, headers: Readonly<Record<string, string>> = {}) => {
    const body = bodyOf(refusal, form)
    response.writeHead(refusal.status, {
      "content-type": CONTENT_TYPE,
      "content-length": bytesOf(body),
      connection: "close",
      ...headers,
      ...securityHeaders
    })
    response.end(body)
  }
  const receive: RequestListener = (request, response) => {
    remember(request, response)
    // Node.js would leave it without an answer, until the client gives up.
    if (server.listenerCount("request") === 1) refuse(NOT_SERVING, response, { "retry-after": "1" })
  }
  server.on("request", receive)
  server.on("checkContinue", receive)
  server.on("checkExpectation", (request, response) => {
    remember(request, response)
    refuse(EXPECTATION, response)
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // Every further piece of a refused request raises this event again.
    if (socket.writableEnded) return
    const answer = answers.get(socket)
    const close = () => socket.destroy()
    // An answer that has begun cannot change, and a closed socket takes none.
    if (!socket.writable || (answer?.headersSent === true && !answer.writableEnded)) close()
    else if (answer?.headersSent === true) socket.end("", close)
    else socket.end(answerOf(refusals.get(error.code ?? "") ?? MALFORMED, form), close)
  })
}

const bodyOf = (refusal: Refusal, form: EdgeForm) => JSON.stringify(form.refusal(refusal))

const bytesOf = (body: string) => String(new TextEncoder().encode(body).length)

const answerOf = (refusal: Refusal, form: EdgeForm): string => {
  const body = bodyOf(refusal, form)
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.reason}`,
    `Content-Type: ${CONTENT_TYPE}`,
    `Content-Length: ${bytesOf(body)}`,
    "Connection: close",
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`)
  ]
  return `${head.join("\r\n")}\r\n\r\n${body}`
}
