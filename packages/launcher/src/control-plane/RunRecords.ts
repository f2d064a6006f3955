import { wholeStart } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"
import { NoAnswer } from "./Submission.ts"

/** What the log of a run is to have about a person. */
export interface NewRecord {
  readonly sessionId: string
  readonly kind: string
  readonly label: string
  readonly idempotencyKey: string
  readonly content: Schema.JsonObject
}

/** What became of a record; all but `kept` have the reason in one line. */
export type Posted =
  | { readonly _tag: "kept" }
  /** The same record is refused again. */
  | { readonly _tag: "never"; readonly reason: string }
  /** It may be taken later: the run or the message is not there yet, or the key has no right. */
  | { readonly _tag: "refused"; readonly reason: string }
  /** The control plane does not answer, or cannot now. */
  | { readonly _tag: "away"; readonly reason: string }

/** A message as the log of a run has it. */
export interface LoggedMessage {
  readonly sender: string
  readonly ordinal: number
  /** Undefined where the log does not have the bytes. */
  readonly payloadSha256: string | undefined
}

/** Longest part of an answer that is logged, characters. */
const MAX_LOGGED = 500

const NO_CONTROL_PLANE = "no control plane is configured: PROTO_CONTROL_PLANE_URL is not set"

/** The log of the runs of launched sessions, for what people do. Each call is one attempt. */
export class RunRecords extends Context.Service<
  RunRecords,
  {
    readonly isConfigured: boolean
    readonly post: (record: NewRecord) => Effect.Effect<Posted>
    /** An accepted message of the session; undefined when its log, or the run, lacks it. */
    readonly message: (sessionId: string, messageId: string) => Effect.Effect<LoggedMessage | undefined, NoAnswer>
  }
>()("runplane/launcher/RunRecords") {
  static readonly layer = Layer.effect(
    RunRecords,
    Effect.gen(function* () {
      const { controlPlane } = yield* LauncherSettings
      return controlPlane === undefined ? RunRecords.none : yield* makeRunRecords(controlPlane)
    })
  )

  /** Without a control plane: nothing is recorded, and nothing is found. */
  static readonly none = RunRecords.of({
    isConfigured: false,
    post: () => Effect.succeed({ _tag: "never", reason: NO_CONTROL_PLANE }),
    message: () => Effect.succeed(undefined)
  })
}

const makeRunRecords = Effect.fnUntraced(function* ({ apiKey, timeoutMs, url }: ControlPlaneSettings) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
    HttpClient.mapRequest((request) =>
      apiKey === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(apiKey))
    )
  )
  const pathOf = (sessionId: string) => `/runs/${encodeURIComponent(sessionId)}`

  const post = Effect.fn("RunRecords.post")(({ content, idempotencyKey, kind, label, sessionId }: NewRecord) => {
    const request = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${pathOf(sessionId)}/artifacts`), {
      kind,
      label,
      inline: content,
      idempotencyKey
    })
    return client.execute(request).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.flatMap(postedOf),
      Effect.timeout(timeoutMs),
      Effect.catch((failure) => Effect.succeed<Posted>({ _tag: "away", reason: oneLine(failure) }))
    )
  })

  const message = Effect.fn("RunRecords.message")((sessionId: string, messageId: string) =>
    client.get(`${pathOf(sessionId)}/messages/${encodeURIComponent(messageId)}`).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.flatMap(
        Effect.fnUntraced(function* (response) {
          if (response.status === 404) return undefined
          if (response.status !== 200) return yield* new NoAnswer({ message: `it answered ${response.status}` })
          const { ordinal, payloadSha256, sender } = yield* decodeMessage(response)
          const found: LoggedMessage = { sender, ordinal, payloadSha256 }
          return found
        })
      ),
      Effect.timeout(timeoutMs),
      Effect.mapError((failure) => new NoAnswer({ message: oneLine(failure) }))
    )
  )
  return RunRecords.of({ isConfigured: true, post, message })
})

const decodeMessage = HttpClientResponse.schemaBodyJson(
  Schema.Struct({
    sender: Schema.String,
    ordinal: Schema.Int,
    payloadSha256: Schema.optionalKey(Schema.String)
  })
)

/** Answers about the record itself. */
const FINAL: ReadonlySet<number> = new Set([400, 413, 415, 422])

const postedOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { status } = response
  if (status >= 200 && status < 300) return { _tag: "kept" } satisfies Posted
  const reason = oneLine({ message: `it answered ${status}: ${wholeStart(yield* response.text, MAX_LOGGED)}` })
  if (FINAL.has(status)) return { _tag: "never", reason } satisfies Posted
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429
  return { _tag: isRefusal ? "refused" : "away", reason } satisfies Posted
})
