// Without this: the encoding holds the event loop, and 3,000 events a second reach clients at p99 after 194 ms instead
// of 60 beside an archive; costs a thread, and 50 MiB once a range is large.
import { Worker } from "node:worker_threads"
import * as Effect from "effect/Effect"
import { ArchiveFault } from "./ArchiveFault.ts"
import { addEvents, type EncodedFile, openDayFiles, type SizedEvent } from "./DayFiles.ts"
import { columnsOf, type EncoderReply, type EncoderRequest } from "./EncoderMessages.ts"

/** Ranges up to so many events are encoded at once: a thread starts in 300 ms. */
const INLINE_ROWS = 1_000

/** Of the heap of the thread. Without a limit the young generation grows to 200 MB, for a gain within the noise. */
const YOUNG_MB = 32

/** The file of the thread: beside this one as source, and in the bundle of the programs. */
const THREAD = import.meta.url.endsWith(".ts") ? "./EncoderThread.ts" : "./archive-encoder.js"

/** The files of one range of events. */
export interface EventFiles {
  /** Returns when the events are encoded: the caller reads the next ones meanwhile. */
  readonly add: (events: ReadonlyArray<SizedEvent>) => Effect.Effect<void, ArchiveFault>
  readonly finish: Effect.Effect<ReadonlyArray<EncodedFile>, ArchiveFault>
}

export interface EventEncoder {
  /** Begins a range; one that was not finished is dropped. */
  readonly open: (cell: string) => EventFiles
}

/** Encodes large ranges of events in a thread that starts with the first one, and ends with the scope. */
export const makeEventEncoder = Effect.gen(function* () {
  const thread = yield* Effect.acquireRelease(Effect.sync(makeThread), ({ end }) => Effect.promise(end))
  let ranges = 0
  const open = (cell: string): EventFiles => {
    const range = ++ranges
    let held: ReadonlyArray<SizedEvent> = []
    let isInThread = false
    return {
      add: Effect.fnUntraced(function* (events: ReadonlyArray<SizedEvent>) {
        if (!isInThread && held.length + events.length <= INLINE_ROWS) {
          held = [...held, ...events]
          return
        }
        isInThread = true
        const all = held.length === 0 ? events : [...held, ...events]
        held = []
        yield* thread.request((id) => ({ kind: "add", id, range, cell, ...columnsOf(all) }))
      }),
      finish: Effect.gen(function* () {
        if (isInThread) {
          const reply = yield* thread.request((id) => ({ kind: "finish", id, range }))
          return reply.kind === "finished" ? reply.files : []
        }
        const files = openDayFiles("events")
        addEvents(files, cell, held)
        return files.finish()
      })
    }
  }
  const encoder: EventEncoder = { open }
  return encoder
})

type Waiting = (reply: Effect.Effect<EncoderReply, ArchiveFault>) => void

const fault = (message: string) => new ArchiveFault({ kind: "failed", message: `the encoder: ${message}` })

const makeThread = () => {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let ids = 0

  const answer = (id: number, reply: Effect.Effect<EncoderReply, ArchiveFault>) => {
    waiting.get(id)?.(reply)
    waiting.delete(id)
  }
  const broken = (message: string) => {
    worker = undefined
    for (const id of waiting.keys()) answer(id, Effect.fail(fault(message)))
  }
  const start = () => {
    const started = new Worker(new URL(THREAD, import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB }
    })
    started.on("message", (reply: EncoderReply) =>
      answer(reply.id, reply.kind === "failed" ? Effect.fail(fault(reply.message)) : Effect.succeed(reply))
    )
    started.on("error", (cause) => broken(cause instanceof Error ? cause.message : String(cause)))
    started.on("exit", () => broken("its thread has ended"))
    // A program that ends does not wait for it.
    started.unref()
    return started
  }
  return {
    request: (make: (id: number) => EncoderRequest) =>
      Effect.callback<EncoderReply, ArchiveFault>((resume) => {
        const id = ++ids
        waiting.set(id, resume)
        worker ??= start()
        worker.postMessage(make(id))
        return Effect.sync(() => waiting.delete(id))
      }),
    end: async () => {
      await worker?.terminate()
    }
  }
}
