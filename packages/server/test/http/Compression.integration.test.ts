import { get } from "node:http"
import * as Zlib from "node:zlib"
import { assert, layer } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { layerEdge } from "../../src/http/Edge.ts"
import { controlPlaneForm, edgeServices, launcherForm } from "../../src/index.ts"
import { ask, layerServer } from "../support/Ask.ts"

const contentType = "application/json"
const list = JSON.stringify(Array.from({ length: 3_000 }, (_, number) => ({ number, text: "r\u00fcn \u{1f600}" })))
const pieces = ["x".repeat(5_000), "y".repeat(10), "z".repeat(200_000)]

const DECODE = {
  br: Zlib.brotliDecompressSync,
  gzip: Zlib.gunzipSync,
  deflate: Zlib.inflateSync
}
const codings = ["br", "gzip", "deflate"] as const

const streamed = (stream: Stream.Stream<string, string>) =>
  HttpServerResponse.stream(Stream.encodeText(stream), { contentType: "application/x-ndjson" })

/** Fails once what was written before is on its way: Node gives it out at the end of a turn of its loop. */
const away = Stream.fromEffect(
  Effect.callback<never, string>((resume) => {
    setImmediate(() => resume(Effect.fail("away")))
  })
)

/** A server whose answers are of every kind that the edge looks at. */
const server = (form: typeof controlPlaneForm) => {
  const released = Deferred.makeUnsafe<void>()
  const later = Stream.fromEffect(Effect.as(Deferred.await(released), "second\n"))
  const text = (path: HttpRouter.PathInput, body: string, options: HttpServerResponse.Options = {}) =>
    HttpRouter.add("GET", path, HttpServerResponse.text(body, { contentType, ...options }))
  const routes = Layer.mergeAll(
    text("/list", list, { headers: { vary: "Accept" } }),
    text("/small", "s".repeat(1_023)),
    text("/least", "s".repeat(1_024)),
    text("/failed", list, { status: 400 }),
    text("/tagged", list, { headers: { etag: '"1"' } }),
    text("/whole", list, { headers: { "cache-control": "no-store, no-transform" } }),
    text("/coded", list, { headers: { "content-encoding": "x-own" } }),
    text("/image", list, { contentType: "image/png" }),
    HttpRouter.add("GET", "/export", streamed(Stream.fromIterable(pieces))),
    HttpRouter.add("GET", "/cut", streamed(Stream.concat(Stream.make("first\n"), away))),
    HttpRouter.add("GET", "/slow", streamed(Stream.concat(Stream.make("first\n"), later))),
    HttpRouter.add("POST", "/release", Effect.as(Deferred.succeed(released, undefined), HttpServerResponse.empty())),
    HttpRouter.add(
      "GET",
      "/events",
      HttpServerResponse.stream(Stream.encodeText(Stream.make("data: 1\n\n")), { contentType: "text/event-stream" })
    ),
    layerEdge(form, () => [])
  )
  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(edgeServices),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { CORS_ORIGIN: "http://a,http://b" } }))),
    Layer.provideMerge(layerServer)
  )
}

const asking = (coding: string) => ({ headers: { "accept-encoding": coding } })

/** The pieces of text that come of a gzipped answer; `onPiece` runs for each. */
const readPieces = Effect.fnUntraced(function* (path: string, onPiece: (text: string) => void) {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  return yield* Effect.callback<string>((resume) => {
    const request = get({ port, path, headers: { "accept-encoding": "gzip" } }, (answer) => {
      let text = ""
      const plain = answer.pipe(Zlib.createGunzip())
      plain.on("data", (piece: Buffer) => {
        text += piece.toString()
        onPiece(piece.toString())
      })
      plain.once("end", () => resume(Effect.succeed(text)))
    })
    return Effect.sync(() => request.destroy())
  })
})

const forms = [
  ["control plane", controlPlaneForm],
  ["launch service", launcherForm]
] as const

for (const [name, form] of forms) {
  layer(server(form), { excludeTestServices: true })(`answers of the ${name}`, (it) => {
    it.effect("are compressed in the coding that the client accepts, with the Vary header", () =>
      Effect.gen(function* () {
        for (const coding of codings) {
          const { bytes, headers, isCut, status } = yield* ask("/list", asking(coding))
          assert.deepStrictEqual([status, isCut], [200, false])
          assert.strictEqual(headers["content-encoding"], coding)
          assert.strictEqual(headers["content-type"], contentType)
          assert.strictEqual(headers["content-length"], String(bytes.length))
          assert.strictEqual(headers["vary"], "Accept, Accept-Encoding, Origin")
          assert.isBelow(bytes.length, Buffer.byteLength(list) / 5)
          assert.strictEqual(DECODE[coding](bytes).toString(), list)
          assert.strictEqual((yield* ask("/failed", asking(coding))).headers["content-encoding"], coding)
        }
      })
    )

    it.effect("are sent uncompressed to a client without Accept-Encoding, with the same Vary", () =>
      Effect.gen(function* () {
        for (const headers of [{}, { "accept-encoding": "identity, gzip;q=0" }]) {
          const answer = yield* ask("/list", { headers })
          assert.strictEqual(answer.text, list)
          assert.notProperty(answer.headers, "content-encoding")
          assert.strictEqual(answer.headers["content-length"], String(Buffer.byteLength(list)))
          assert.strictEqual(answer.headers["vary"], "Accept, Accept-Encoding, Origin")
        }
      })
    )

    it.effect("stay as they are below 1,024 bytes, with an ETag, a coding, another type or no-transform", () =>
      Effect.gen(function* () {
        for (const path of ["/small", "/tagged", "/whole", "/image", "/events", "/unknown"]) {
          const { headers } = yield* ask(path, asking("gzip, br"))
          assert.notProperty(headers, "content-encoding", path)
          assert.strictEqual(headers["vary"], "Origin", path)
        }
        assert.strictEqual((yield* ask("/coded", asking("gzip"))).headers["content-encoding"], "x-own")
        assert.strictEqual((yield* ask("/least", asking("gzip"))).headers["content-encoding"], "gzip")
      })
    )

    it.effect("have the same headers for HEAD, and no body", () =>
      Effect.gen(function* () {
        const { date: _, "x-request-id": __, ...expected } = (yield* ask("/list", asking("gzip"))).headers
        const answer = yield* ask("/list", { method: "HEAD", ...asking("gzip") })
        assert.deepInclude(answer.headers, expected)
        assert.lengthOf(answer.bytes, 0)
        assert.strictEqual(
          (yield* ask("/export", { method: "HEAD", ...asking("gzip") })).headers["content-encoding"],
          "gzip"
        )
      })
    )

    it.effect("of a stream are whole", () =>
      Effect.gen(function* () {
        for (const coding of codings) {
          const { bytes, headers, isCut } = yield* ask("/export", asking(coding))
          assert.strictEqual(headers["content-encoding"], coding)
          assert.strictEqual(headers["transfer-encoding"], "chunked")
          assert.isFalse(isCut)
          assert.isBelow(bytes.length, 5_000)
          assert.strictEqual(DECODE[coding](bytes).toString(), pieces.join(""))
        }
      })
    )

    it.effect("of a stream give each piece out before the next is there", () =>
      Effect.gen(function* () {
        const first = yield* Deferred.make<string>()
        const answer = yield* Effect.forkChild(
          readPieces("/slow", (text) => Deferred.doneUnsafe(first, Effect.succeed(text)))
        )
        assert.strictEqual(yield* Deferred.await(first), "first\n")
        yield* ask("/release", { method: "POST" })
        assert.strictEqual(yield* Fiber.join(answer), "first\nsecond\n")
      })
    )

    it.effect("of a stream that fails end neither the transfer nor the coding", () =>
      Effect.gen(function* () {
        for (const coding of codings) {
          const { bytes, isCut } = yield* ask("/cut", asking(coding))
          assert.isTrue(isCut)
          assert.throws(() => DECODE[coding](bytes), /unexpected end of file/)
          if (coding !== "gzip") continue
          const sent = Zlib.gunzipSync(bytes, { finishFlush: Zlib.constants.Z_SYNC_FLUSH })
          assert.strictEqual(sent.toString(), "first\n")
        }
      })
    )
  })
}
