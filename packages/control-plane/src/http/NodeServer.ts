import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { ControlPlaneErrorCode } from "@runplane/api"

/** What Node.js refuses by itself, before a request exists that the edge could see. */
interface Refusal {
  readonly status: number
  readonly errorCode: ControlPlaneErrorCode
  readonly message: string
}

const CONTENT_TYPE = "application/json"

const MALFORMED: Refusal = { status: 400, errorCode: "VALIDATION_ERROR", message: "malformed HTTP request" }

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, errorCode: "PAYLOAD_TOO_LARGE", message: "request head is too large" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    errorCode: "PAYLOAD_TOO_LARGE",
    message: "chunk extensions are too large"
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, errorCode: "VALIDATION_ERROR", message: "request took too long to arrive" }
}

const EXPECTATION: Refusal = {
  status: 417,
  errorCode: "VALIDATION_ERROR",
  message: "the only expectation known is 100-continue"
}

const bodyOf = ({ errorCode, message, status }: Refusal) =>
  JSON.stringify({ statusCode: status, errorCode, message, error: STATUS_CODES[status] })

/**
 * A Node.js server whose own refusals have the error form of the service (http-details section 3.2): bytes that are no HTTP, heads
 * that are too large, requests that do not arrive, expectations that nobody can meet. A missing `Host` is not refused, because
 * nothing here reads it; an `Upgrade` is not followed, and the request is answered as it stands.
 */
export const makeNodeServer = (): Server => {
  const server = createServer({ requireHostHeader: false, shouldUpgradeCallback: () => false })
  const answers = new WeakMap<Duplex, ServerResponse>()
  const remember = (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request.socket, response)
    response.once("close", () => answers.delete(request.socket))
  }
  server.on("request", remember)
  server.on("checkContinue", remember)
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(EXPECTATION.status, { "content-type": CONTENT_TYPE, connection: "close" })
    response.end(bodyOf(EXPECTATION))
  })
  server.on("clientError", (error: Error & { readonly code?: string }, socket) => {
    // Every further piece of a refused request comes by here again.
    if (socket.writableEnded) return
    // In the middle of an answer nothing else can be said, and to nobody nothing at all.
    if (!socket.writable || answers.get(socket)?.headersSent === true) socket.destroy()
    else socket.end(answerOf(refusals[error.code ?? ""] ?? MALFORMED), () => socket.destroy())
  })
  return server
}

const answerOf = (refusal: Refusal): string => {
  const body = bodyOf(refusal)
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `Content-Type: ${CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close"
  ]
  return `${head.join("\r\n")}\r\n\r\n${body}`
}
