import * as Zlib from "node:zlib"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"

/** Fewest bytes that are compressed; a shorter answer fits into one packet. */
export const SMALLEST_COMPRESSED = 1_024

/** The content types that shrink. Clients of an event stream share its bytes (docs/reference/streams.md#one-write). */
const COMPRESSIBLE = /^(?:text\/(?!event-stream\b)|application\/(?:[\w.-]+\+)?(?:json|x-ndjson|yaml)\b)/i

// The least effort: four times the CPU makes an answer hardly shorter.
const quality = { [Zlib.constants.BROTLI_PARAM_QUALITY]: 1 }
const level = Zlib.constants.Z_BEST_SPEED
const flush = Zlib.constants.Z_SYNC_FLUSH

/**
 * The codings in the order of our preference. `whole` runs on a thread of Node's pool, so that a long answer does not
 * hold up the others; `piece` gives each piece of a stream out before the next one is there.
 */
const CODINGS = {
  br: {
    whole: (bytes: Uint8Array, done: Zlib.CompressCallback) => Zlib.brotliCompress(bytes, { params: quality }, done),
    piece: () => Zlib.createBrotliCompress({ params: quality, flush: Zlib.constants.BROTLI_OPERATION_FLUSH })
  },
  gzip: {
    whole: (bytes: Uint8Array, done: Zlib.CompressCallback) => Zlib.gzip(bytes, { level }, done),
    piece: () => Zlib.createGzip({ level, flush })
  },
  deflate: {
    whole: (bytes: Uint8Array, done: Zlib.CompressCallback) => Zlib.deflate(bytes, { level }, done),
    piece: () => Zlib.createDeflate({ level, flush })
  }
}
type Coding = keyof typeof CODINGS
const NAMES = ["br", "gzip", "deflate"] as const satisfies ReadonlyArray<Coding>

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** The weights of an `Accept-Encoding` by lower-case name; an entry whose weight is not one of RFC 9110 is left out. */
const weightsOf = (accepted: string): ReadonlyMap<string, number> =>
  new Map(
    accepted.split(",").flatMap((entry) => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase())
      if (name === "") return []
      if (parameters.length === 0) return [[name, 1] as const]
      const weight = parameters.length === 1 ? WEIGHT.exec(parameters[0] ?? "")?.[1] : undefined
      return weight === undefined ? [] : [[name, Number(weight)] as const]
    })
  )

/**
 * Of the codings at hand, in the order of preference, the one that an `Accept-Encoding` weighs most; undefined where it
 * accepts none, weighs `identity` more, or is missing.
 */
export const acceptedCoding = <Name extends string>(
  accepted: string | undefined,
  available: Iterable<Name>
): Name | undefined => {
  if (accepted === undefined) return undefined
  const weights = weightsOf(accepted)
  const least = weights.get("identity") ?? 0
  let best: { readonly name: Name; readonly weight: number } | undefined
  for (const name of available) {
    const weight = weights.get(name) ?? weights.get("*") ?? 0
    if (weight > 0 && weight >= least && weight > (best?.weight ?? 0)) best = { name, weight }
  }
  return best?.name
}

/**
 * The answer in the coding that its client accepts (docs/reference/http.md#compression), and whether it depends on
 * `Accept-Encoding`. An answer with a coding or an ETag stays as it is.
 */
export const compressed = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): { readonly varies: boolean; readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse> } => {
  const asItIs = Effect.succeed(response)
  if (!isCompressible(response)) return { varies: false, answer: asItIs }
  const coding = acceptedCoding(request.headers["accept-encoding"], NAMES)
  return { varies: true, answer: coding === undefined ? asItIs : encode(response, coding) }
}

const isCompressible = ({ body, headers }: HttpServerResponse.HttpServerResponse): boolean =>
  (body._tag === "Stream" || (body._tag === "Uint8Array" && body.contentLength >= SMALLEST_COMPRESSED)) &&
  COMPRESSIBLE.test(headers["content-type"] ?? "") &&
  headers["content-encoding"] === undefined &&
  headers["etag"] === undefined &&
  headers["cache-control"]?.includes("no-transform") !== true

const encode = (response: HttpServerResponse.HttpServerResponse, coding: Coding) => {
  const { body } = response
  const { piece, whole } = CODINGS[coding]
  const withBody = (encoded: HttpBody.HttpBody) =>
    HttpServerResponse.setHeader(HttpServerResponse.setBody(response, encoded), "content-encoding", coding)
  if (body._tag === "Stream") {
    return Effect.succeed(withBody(HttpBody.stream(encodePieces(body.stream, piece), body.contentType)))
  }
  if (body._tag !== "Uint8Array") return Effect.succeed(response)
  return Effect.map(
    Effect.callback<Uint8Array>((resume) =>
      whole(body.body, (error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.die(error)))
    ),
    (bytes) => withBody(HttpBody.uint8Array(bytes, body.contentType))
  )
}

type Engine = ReturnType<(typeof CODINGS)[Coding]["piece"]>

/**
 * Encodes a stream piece by piece, as its reader takes them. When the stream fails, the coding lacks its last bytes, so
 * that a client detects the incomplete body.
 */
const encodePieces = <E>(stream: Stream.Stream<Uint8Array, E>, open: () => Engine): Stream.Stream<Uint8Array, E> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.sync(open), (engine) => Effect.sync(() => engine.destroy())),
      (engine) => {
        const encoded: Array<Uint8Array> = []
        engine.on("data", (bytes: Buffer) => encoded.push(bytes))
        const put = (bytes: Uint8Array) =>
          Effect.callback<ReadonlyArray<Uint8Array>>((resume) => {
            engine.write(bytes, (error) => resume(error ? Effect.die(error) : Effect.sync(() => encoded.splice(0))))
          })
        const end = Effect.callback<ReadonlyArray<Uint8Array>>((resume) => {
          engine.once("end", () => resume(Effect.sync(() => encoded.splice(0))))
          engine.end()
        })
        // The callbacks say what fails.
        engine.on("error", () => {})
        return Stream.concat(
          Stream.flattenIterable(Stream.mapEffect(stream, put)),
          Stream.flattenIterable(Stream.fromEffect(end))
        )
      }
    )
  )
