import { createServer, type IncomingHttpHeaders } from "node:http"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

export interface ReceivedWebhook {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the receiver does with a request: a status with headers, no answer at all, or a connection that breaks. */
export type ReceiverAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly hang: true }
  | { readonly hangUp: true }

/** A receiver of webhooks on the loopback. `answer` is called for each request, with the number of those before it. */
export const webhookReceiver = Effect.fnUntraced(function* (
  answer: (before: number, request: ReceivedWebhook) => ReceiverAnswer = () => ({ status: 204 })
) {
  const requests = yield* Queue.unbounded<ReceivedWebhook>()
  const open = { now: 0, most: 0 }
  let count = 0
  const server = createServer((request, response) => {
    open.now += 1
    open.most = Math.max(open.most, open.now)
    response.once("close", () => {
      open.now -= 1
    })
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      body += chunk
    })
    request.on("end", () => {
      const received = { method: request.method, path: request.url, headers: request.headers, body }
      const wanted = answer(count, received)
      count += 1
      Queue.offerUnsafe(requests, received)
      if ("hangUp" in wanted) request.socket.destroy()
      if ("status" in wanted) response.writeHead(wanted.status, wanted.headers).end()
    })
  })
  const port = yield* listening(server)
  return { url: `http://127.0.0.1:${port}/hook`, requests, open }
})
