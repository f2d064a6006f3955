import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"

/** Where Slack is. Tests have a server of their own. */
export const SlackAddresses = Context.Reference<{ readonly api: string; readonly responses: string }>(
  "runplane/launcher/SlackAddresses",
  { defaultValue: () => ({ api: "https://slack.com/api", responses: "https://hooks.slack.com" }) }
)

/** A call has not done what it should. */
export class SlackCallFailed extends Data.TaggedError("SlackCallFailed")<{
  readonly message: string
  /** The code of Slack; undefined where it gave none. */
  readonly code: string | undefined
  /** How long Slack wants no further call, milliseconds. */
  readonly pauseMs: number
}> {}

const TIMEOUT_MS = 5_000
const SECOND_MS = 1_000

const decodeAnswer = HttpClientResponse.schemaBodyJson(
  Schema.Struct({
    ok: Schema.Boolean,
    error: Schema.optionalKey(Schema.String),
    channel: Schema.optionalKey(Schema.String),
    ts: Schema.optionalKey(Schema.String)
  })
)

/** Calls of Slack. No error has a token or an address of a response: both are secrets. */
export const makeSlackClient = Effect.gen(function* () {
  const addresses = yield* SlackAddresses
  const http = yield* HttpClient.HttpClient

  const send = (what: string, request: HttpClientRequest.HttpClientRequest) =>
    http.execute(request).pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.timeout(TIMEOUT_MS),
      Effect.mapError(
        ({ _tag }) =>
          new SlackCallFailed({ message: `${what}: Slack does not answer (${_tag})`, code: undefined, pauseMs: 0 })
      ),
      Effect.filterOrFail(
        ({ status }) => status >= 200 && status < 300,
        ({ headers, status }) => {
          const seconds = Number(headers["retry-after"] ?? 0)
          const pauseMs = Number.isFinite(seconds) ? seconds * SECOND_MS : 0
          return new SlackCallFailed({ message: `${what}: Slack answered ${status}`, code: undefined, pauseMs })
        }
      )
    )

  return {
    /** One call of the Web API; the message that it made or changed, where it did. */
    call: Effect.fn("SlackClient.call")(function* (method: string, token: Redacted.Redacted, body: object) {
      const request = HttpClientRequest.post(`${addresses.api}/${method}`).pipe(
        HttpClientRequest.bearerToken(Redacted.value(token)),
        HttpClientRequest.bodyJsonUnsafe(body)
      )
      const answer = yield* Effect.mapError(Effect.flatMap(send(method, request), decodeAnswer), (failure) =>
        failure._tag === "SlackCallFailed"
          ? failure
          : new SlackCallFailed({ message: `${method}: ${oneLine(failure)}`, code: undefined, pauseMs: 0 })
      )
      if (!answer.ok) {
        const code = answer.error ?? "unknown_error"
        return yield* new SlackCallFailed({ message: `${method}: Slack refused it: ${code}`, code, pauseMs: 0 })
      }
      return { channel: answer.channel, ts: answer.ts }
    }),

    /** Writes to the address that came with a press. Any other address would make the service call a server of a stranger. */
    respond: Effect.fn("SlackClient.respond")(function* (responseUrl: string, body: object) {
      if (!isResponseUrl(responseUrl, addresses.responses)) {
        const message = "the response_url of a press is not an address of Slack"
        return yield* new SlackCallFailed({ message, code: undefined, pauseMs: 0 })
      }
      yield* send("response_url", HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(responseUrl), body))
    })
  }
})

export type SlackClient = Effect.Success<typeof makeSlackClient>

const isResponseUrl = (text: string, base: string): boolean => {
  if (!URL.canParse(text)) return false
  const { origin, password, username } = new URL(text)
  return origin === new URL(base).origin && username === "" && password === ""
}
