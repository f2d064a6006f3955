import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { descriptor } from "../support/HttpService.ts"

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: ReturnType<typeof JSON.parse>
}

/** One request to a service somewhere; its body is taken for JSON. */
export const request = (url: string, method = "GET", body?: unknown) =>
  Effect.promise(async (signal): Promise<Reply> => {
    const response = await fetch(url, {
      method,
      signal,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
  })

/** Asks again and again until the answer is as wanted. */
export const requestUntil = (url: string, wanted: (reply: Reply) => boolean) =>
  Effect.repeat(request(url), { until: wanted, schedule: Schedule.spaced("50 millis") })

/** A run for a session that somebody opens. */
export const postRun = (url: string, sessionId: string, execution: Readonly<Record<string, unknown>> = {}) =>
  request(`${url}/runs`, "POST", descriptor({ runtime: { kind: "rust" }, session: { sessionId }, execution }))
