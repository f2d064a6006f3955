import { request } from "node:http"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { WrongAnswer } from "../reads/HttpLoad.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"

export interface TimedAnswer {
  readonly text: string
  /** From the request to the last byte of its answer. */
  readonly millis: number
}

const NANOS_PER_MILLI = 1e6

/** One request on a connection of its own; with a body it is a POST. Any status but 2xx fails. */
export const timedRequest = Effect.fnUntraced(function* (path: string, body?: unknown) {
  const { headers, url } = yield* ControlPlaneProcess
  const started = yield* Clock.monotonicTimeNanos
  const text = yield* answerOf(`${url}${path}`, headers, body === undefined ? undefined : JSON.stringify(body))
  const ended = yield* Clock.monotonicTimeNanos
  const answer: TimedAnswer = { text, millis: Number(ended - started) / NANOS_PER_MILLI }
  return answer
})

const answerOf = (url: string, authorization: Readonly<Record<string, string>>, body: string | undefined) =>
  Effect.callback<string, WrongAnswer>((resume) => {
    const failed = (reason: string) => resume(Effect.fail(new WrongAnswer({ reason: `${url}: ${reason}` })))
    const headers = { ...authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) }
    const method = body === undefined ? "GET" : "POST"
    const outgoing = request(url, { agent: false, method, headers }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.once("error", ({ message }) => failed(message))
      response.once("end", () => {
        const text = Buffer.concat(parts).toString("utf8")
        const { statusCode = 0 } = response
        if (statusCode < 200 || statusCode > 299) return failed(`${statusCode} ${text.slice(0, 200)}`)
        resume(Effect.succeed(text))
      })
    })
    outgoing.once("error", ({ message }) => failed(message))
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })
