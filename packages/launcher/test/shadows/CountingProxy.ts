import { connect, constants, createServer, type Http2Session } from "node:http2"
import * as Effect from "effect/Effect"

/** A proxy before a runtime: it counts the calls of each bearer, and sends everything on as it is. */
export const countingProxy = (upstream: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly address: string; readonly calls: Map<string, number>; readonly stop: () => void }>(
      (resume) => {
        const calls = new Map<string, number>()
        const target = connect(`http://${upstream}`)
        const sessions = new Set<Http2Session>()
        target.on("error", () => undefined)
        const server = createServer()
        server.on("session", (session) => {
          sessions.add(session)
          session.on("error", () => undefined)
          session.once("close", () => sessions.delete(session))
        })
        server.on("stream", (stream, headers) => {
          const bearer = String(headers["authorization"] ?? "").replace(/^Bearer /, "")
          calls.set(bearer, (calls.get(bearer) ?? 0) + 1)
          const { ":authority": _, ...sent } = headers
          const out = target.request(sent)
          out.on("response", (answer) => {
            if (!stream.destroyed) stream.respond(answer, { waitForTrailers: true })
          })
          let trailers = {}
          out.on("trailers", (given) => {
            trailers = given
          })
          stream.on("wantTrailers", () => stream.sendTrailers(trailers))
          stream.on("close", () => out.close(constants.NGHTTP2_CANCEL))
          for (const one of [out, stream]) one.on("error", () => undefined)
          stream.pipe(out)
          out.pipe(stream)
        })
        server.listen(0, "127.0.0.1", () => {
          const bound = server.address()
          const port = bound === null || typeof bound === "string" ? 0 : bound.port
          const stop = () => {
            for (const session of sessions) session.destroy()
            target.destroy()
            server.close()
          }
          resume(Effect.succeed({ address: `127.0.0.1:${port}`, calls, stop }))
        })
      }
    ),
    ({ stop }) => Effect.sync(stop)
  )
