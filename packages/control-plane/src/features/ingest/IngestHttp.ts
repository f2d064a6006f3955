import {
  badRequest,
  ControlPlaneApi,
  CurrentActor,
  EXPORT_PATHS,
  ingestDisabled,
  PROTOBUF_TYPE,
  payloadTooLarge,
  spanInboxFull,
  TooManyRequests,
  unsupportedCoding,
  unsupportedMediaType
} from "@runplane/api"
import {
  contentCodings,
  contentType,
  encodeExportAnswer,
  encodeStatus,
  type OtlpEncoding,
  type OtlpSignal,
  type StatusOf
} from "@runplane/otlp"
import { networkOf, RawRoutes, RequestFacts } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { orUnavailable, RETRY_AFTER_SECONDS } from "../../platform/http/OutageAnswers.ts"
import type { ExportRefused } from "./ExportBudgets.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { JOIN_HEADER } from "./JoinTokens.ts"
import { asExport } from "./OtherClients.ts"
import { Receiver } from "./Receiver.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The encoding of a request by its content type; undefined for another one. */
const encodingOf = ({ headers }: Request): OtlpEncoding | undefined => {
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  return type === "application/json" ? "json" : type === PROTOBUF_TYPE ? "protobuf" : undefined
}

/** Sources that are known to have the answer about metrics. */
const MOST_SOURCES = 1_000
const METRICS_ARE_NOT_STORED = "this service stores spans and log records, not metrics"

/** The `ingest` group: OTLP over HTTP (docs/reference/ingest.md#endpoint). */
export const IngestHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "ingest",
  Effect.fn(function* (handlers) {
    const { isEnabled } = yield* IngestSettings
    const receiver = yield* Receiver
    const isFirst = firstTime(MOST_SOURCES)

    /** The encodings of a request; refuses other ones. */
    const accepted = Effect.fnUntraced(function* (request: Request) {
      if (!isEnabled) return yield* ingestDisabled()
      const encoding = encodingOf(request)
      if (encoding === undefined) return yield* unsupportedMediaType(request.headers["content-type"] ?? "")
      const coding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
      if (coding === "" || coding === "identity") return { encoding, coding: undefined }
      const known = contentCodings.find((each) => each === coding || `x-${each}` === coding)
      if (known === undefined) return yield* unsupportedCoding(coding, contentCodings)
      return { encoding, coding: known }
    })

    const answer = (
      signal: OtlpSignal | "metrics",
      encoding: OtlpEncoding,
      partial?: { rejected: number; message: string }
    ) =>
      HttpServerResponse.uint8Array(encodeExportAnswer(signal, encoding, partial), {
        contentType: contentType(encoding)
      })

    const receive =
      (signal: OtlpSignal) =>
      ({ request }: { readonly request: Request }) =>
        orUnavailable(
          Effect.gen(function* () {
            const form = yield* accepted(request)
            const { actorId, actorType } = yield* CurrentActor
            const facts = yield* RequestFacts
            facts.client = actorType === "anonymous" ? networkOf(facts.address) : actorId
            const given = {
              ...form,
              signal,
              body: request.stream,
              source: actorId,
              client: facts.client,
              joinToken: request.headers[JOIN_HEADER]
            }
            const rejected = yield* receiver.receive(given).pipe(
              Effect.catchTags({
                BodyTooLarge: ({ message }) => Effect.fail(payloadTooLarge(message)),
                TooManyParts: ({ message }) => Effect.fail(payloadTooLarge(message)),
                BodyMalformed: ({ message }) => Effect.fail(badRequest(message)),
                HttpServerError: () => Effect.fail(badRequest("the body did not arrive")),
                SpanInboxFull: () => Effect.fail(spanInboxFull())
              })
            )
            return answer(signal, form.encoding, rejected)
          }).pipe(Effect.catchTag("ExportRefused", (refused) => Effect.succeed(refusalOf(refused))))
        )

    return handlers
      .handleRaw("traces", receive("traces"))
      .handleRaw("logs", receive("logs"))
      .handleRaw("metrics", ({ request }) =>
        Effect.gen(function* () {
          const { encoding } = yield* accepted(request)
          const { actorId } = yield* CurrentActor
          return answer(
            "metrics",
            encoding,
            isFirst(actorId) ? { rejected: 0, message: METRICS_ARE_NOT_STORED } : undefined
          )
        })
      )
  })
)

/** Whether a name comes for the first time; of very many names it forgets the oldest. */
const firstTime = (most: number) => {
  const names = new Set<string>()
  return (name: string): boolean => {
    if (names.has(name)) return false
    names.add(name)
    for (const oldest of names) if (names.size > most) names.delete(oldest)
    return true
  }
}

/** 429 with the time after which the budget has room again. */
const refusalOf = ({ message, retryAfterMs }: ExportRefused) => {
  const { errorCode, statusCode } = new TooManyRequests({ errorCode: "INTERNAL_ERROR", message })
  return HttpServerResponse.jsonUnsafe(
    { statusCode, errorCode, message },
    { status: statusCode, headers: { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) } }
  )
}

/** Statuses that exporters send again. */
const RETRIED: ReadonlySet<number> = new Set([429, 503])

const isStatus = (status: number): status is StatusOf => [400, 401, 403, 404, 413, 415, 429, 503].includes(status)

/** The text of an error of this service. */
const messageOf = ({ body }: HttpServerResponse.HttpServerResponse): string => {
  const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  const parsed: unknown = text.startsWith("{") ? JSON.parse(text) : undefined
  const message = typeof parsed === "object" && parsed !== null && "message" in parsed ? parsed.message : undefined
  return typeof message === "string" ? message : text
}

/** Errors of the three paths as the `Status` message of OTLP, which exporters read. */
export const layerExportErrors = Layer.succeed(RawRoutes, {
  known: asExport,
  has: (path) => EXPORT_PATHS.has(path),
  refusal: (request, refused) => {
    const encoding = encodingOf(request) ?? "json"
    const { status } = refused
    const timed =
      RETRIED.has(status) && refused.headers["retry-after"] === undefined
        ? HttpServerResponse.setHeader(refused, "retry-after", String(RETRY_AFTER_SECONDS))
        : refused
    if (encoding === "json" || !isStatus(status)) return timed
    return HttpServerResponse.uint8Array(encodeStatus(encoding, status, messageOf(refused)), {
      status,
      headers: timed.headers,
      contentType: contentType(encoding)
    })
  }
})
