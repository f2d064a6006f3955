import * as Effect from "effect/Effect"
import { baseUrl } from "./HttpService.ts"

export interface SseFrame {
  readonly event: string
  readonly id: string | undefined
  readonly data: ReturnType<typeof JSON.parse>
}

/** Reads the frames of an event stream over the real port, one at a time; undefined at its end. */
export const openSse = Effect.fnUntraced(function* (path: string, headers: Readonly<Record<string, string>> = {}) {
  const url = `${yield* baseUrl}${path}`
  const abort = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const response = yield* Effect.promise(() => fetch(url, { headers, signal: abort.signal }))
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let buffered = ""

  const next: Effect.Effect<SseFrame | undefined> = Effect.promise(async () => {
    while (true) {
      const end = buffered.indexOf("\n\n")
      if (end >= 0) {
        const frame = buffered.slice(0, end)
        buffered = buffered.slice(end + 2)
        return parseFrame(frame)
      }
      const chunk = await reader?.read()
      if (chunk === undefined || chunk.done) return undefined
      buffered += decoder.decode(chunk.value, { stream: true })
    }
  })
  /** The next frame of that name; the ones before it are dropped. */
  const nextOf = (event: string) =>
    Effect.gen(function* () {
      while (true) {
        const frame = yield* next
        if (frame === undefined || frame.event === event) return frame
      }
    })
  /** Everything that is left, to the end of the stream. */
  const rest = Effect.gen(function* () {
    const frames: Array<SseFrame> = []
    while (true) {
      const frame = yield* next
      if (frame === undefined) return frames
      frames.push(frame)
    }
  })
  return { status: response.status, headers: response.headers, next, nextOf, rest }
})

const parseFrame = (text: string): SseFrame => {
  const fields = new Map(
    text.split("\n").map((line) => {
      const colon = line.indexOf(": ")
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    })
  )
  return { event: fields.get("event") ?? "", id: fields.get("id"), data: JSON.parse(fields.get("data") ?? "null") }
}
