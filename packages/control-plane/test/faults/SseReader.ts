import { request as httpRequest } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/**
 * Follows an event stream over one HTTP connection, however long it lives, and keeps the indexes of what it got. Cheap enough to
 * have hundreds.
 */
export class SseReader {
  readonly indexes: Array<number> = []
  readonly events: Array<{ readonly type: string; readonly index: number; readonly seq: number }> = []
  beats = 0
  bytes = 0
  status = 0
  #buffered = ""
  readonly #waiting: Array<{ readonly index: number; readonly done: Deferred.Deferred<void> }> = []
  readonly opened = Deferred.makeUnsafe<void>()
  /** Set when the connection has ended, whoever ended it. */
  readonly ended = Deferred.makeUnsafe<"end" | "cut">()

  static readonly open = Effect.fnUntraced(function* (url: string, keepEvents = true) {
    const reader = new SseReader(keepEvents)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const outgoing = httpRequest(url, { agent: false }, (response) => {
          reader.status = response.statusCode ?? 0
          Deferred.doneUnsafe(reader.opened, Effect.void)
          response.on("data", (chunk: Buffer) => reader.#read(chunk))
          response.once("end", () => Deferred.doneUnsafe(reader.ended, Effect.succeed("end")))
          response.once("error", () => Deferred.doneUnsafe(reader.ended, Effect.succeed("cut")))
        })
        outgoing.on("error", () => Deferred.doneUnsafe(reader.ended, Effect.succeed("cut")))
        outgoing.end()
        return outgoing
      }),
      (outgoing) => Effect.sync(() => outgoing.destroy())
    )
    yield* Deferred.await(reader.opened)
    return reader
  })

  readonly #keepEvents: boolean

  private constructor(keepEvents: boolean) {
    this.#keepEvents = keepEvents
  }

  /** How the connection ended. */
  get closed(): Effect.Effect<"end" | "cut"> {
    return Deferred.await(this.ended)
  }

  /** Waits for the event of that index. */
  received(index: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if ((this.indexes.at(-1) ?? 0) >= index) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      this.#waiting.push({ index, done })
      return Deferred.await(done)
    })
  }

  #read(chunk: Buffer): void {
    this.bytes += chunk.length
    this.#buffered += chunk.toString("utf8")
    let from = 0
    while (true) {
      const end = this.#buffered.indexOf("\n\n", from)
      if (end < 0) break
      this.#frame(this.#buffered.slice(from, end))
      from = end + 2
    }
    this.#buffered = this.#buffered.slice(from)
  }

  #frame(text: string): void {
    if (text.startsWith("event: heartbeat")) this.beats += 1
    if (!text.startsWith("event: canonical_event")) return
    const { index, seq, type } = JSON.parse(text.slice(text.indexOf("data: ") + 6))
    this.indexes.push(index)
    if (this.#keepEvents) this.events.push({ type, index, seq })
    for (let place = this.#waiting.length - 1; place >= 0; place--) {
      const waiting = this.#waiting[place]
      if (waiting === undefined || waiting.index > index) continue
      this.#waiting.splice(place, 1)
      Deferred.doneUnsafe(waiting.done, Effect.void)
    }
  }
}
