import * as Effect from "effect/Effect"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed, when the answer is JSON; of the type that the parser returns, so that tests can read its fields. */
  readonly body: ReturnType<typeof JSON.parse>
}

export interface Call {
  /** A text goes as it is, anything else as JSON; with a body the type is JSON unless `headers` say another. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One request as JSON clients make it, and the whole answer; a connection that fails is a defect. */
export const request = (method: string, url: string, { body, headers }: Call = {}): Effect.Effect<Answer> =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, {
      method,
      signal,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  })
