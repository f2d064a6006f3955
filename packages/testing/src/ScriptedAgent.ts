import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { CARD_PATH } from "./JsAgent.ts"
import { listening } from "./Loopback.ts"

/** A request as a hostile server sees it. */
export interface Seen {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** A server that answers whatever its script says, right or wrong. */
export const makeScriptedAgent = Effect.fnUntraced(function* (
  answer: (seen: Seen, outgoing: ServerResponse, base: string) => void
) {
  const seen: Array<Seen> = []
  let base = ""
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of incoming) chunks.push(chunk)
    const one = { path: incoming.url ?? "", headers: incoming.headers, body: Buffer.concat(chunks).toString() }
    seen.push(one)
    answer(one, outgoing, base)
  })
  const port = yield* listening(server)
  base = `http://127.0.0.1:${port}`
  return { base, entrypoint: `${base}${CARD_PATH}`, seen }
})

/** A card with one interface. */
export const cardAt = (url: string, over: object = {}): string =>
  JSON.stringify({
    name: "an agent",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    ...over
  })

export const sendJson = (outgoing: ServerResponse, body: string, status = 200): void => {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(body)
}
