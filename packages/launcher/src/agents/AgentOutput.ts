import type { Readable } from "node:stream"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { wholeStart } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { logLines, printable } from "./LogLines.ts"

/** Seconds of quiet that an agent may save up for one burst of output. */
const BURST_SECONDS = 4

/** Bytes at the end of the standard error output that are kept. */
const TAIL_BYTES = 4_096
const TAIL_LINES = 3
const TAIL_LINE_LENGTH = 500

/** How much output of one agent is logged: so many bytes a second, and bursts of a few seconds' worth. */
export class OutputBudget {
  readonly #perSecond: number
  #left: number
  #at: number | undefined

  constructor(bytesPerSecond: number) {
    this.#perSecond = bytesPerSecond
    this.#left = bytesPerSecond * BURST_SECONDS
  }

  /** Whether so many bytes may be logged at a time, ms; if so they are spent. */
  spend(bytes: number, now: number): boolean {
    const earned = ((now - (this.#at ?? now)) / 1_000) * this.#perSecond
    this.#left = Math.min(this.#left + earned, this.#perSecond * BURST_SECONDS)
    this.#at = now
    // A piece larger than a whole burst would never fit.
    if (this.#left < Math.min(bytes, this.#perSecond * BURST_SECONDS)) return false
    this.#left = Math.max(0, this.#left - bytes)
    return true
  }
}

/** The end of an output, whatever of it was logged. */
export class OutputTail {
  #bytes: Uint8Array = new Uint8Array()

  add(chunk: Uint8Array): void {
    const joined = new Uint8Array(Math.min(TAIL_BYTES, this.#bytes.length + chunk.length))
    const kept = chunk.subarray(Math.max(0, chunk.length - TAIL_BYTES))
    joined.set(this.#bytes.subarray(this.#bytes.length - (joined.length - kept.length)))
    joined.set(kept, joined.length - kept.length)
    this.#bytes = joined
  }

  /** The last lines that hold something, oldest first, fit to be shown. */
  get lines(): ReadonlyArray<string> {
    return new TextDecoder()
      .decode(this.#bytes)
      .split(/[\r\n]+/)
      .map((line) => wholeStart(printable(line.trim()), TAIL_LINE_LENGTH))
      .filter((line) => line !== "")
      .slice(-TAIL_LINES)
  }
}

/**
 * Reads an output of an agent to its end and logs its lines up to the budget; further lines are dropped, and their
 * number is logged (docs/internals/launch.md#agent-output). A flood neither fills memory nor blocks the agent.
 */
export const readOutput = (
  output: Readable,
  log: (line: string) => Effect.Effect<void>,
  {
    budget,
    onCut,
    tail
  }: {
    readonly budget: OutputBudget
    /** Called when output is first cut, and with the number of bytes left out when the rate is normal again. */
    readonly onCut: (bytes: number | undefined) => Effect.Effect<void>
    readonly tail?: OutputTail
  }
): Effect.Effect<void> => {
  let dropped = 0
  const settle = Effect.suspend(() => {
    if (dropped === 0) return Effect.void
    const bytes = dropped
    dropped = 0
    return onCut(bytes)
  })
  const within = (chunk: Uint8Array) =>
    Effect.gen(function* () {
      tail?.add(chunk)
      if (budget.spend(chunk.length, yield* Clock.currentTimeMillis)) {
        yield* settle
        return true
      }
      if (dropped === 0) yield* onCut(undefined)
      dropped += chunk.length
      return false
    })
  return logLines(Stream.filterEffect(NodeStream.fromReadable({ evaluate: () => output }), within)).pipe(
    Stream.runForEach(log),
    Effect.andThen(settle),
    Effect.catchCause((cause) => Effect.logDebug("the output of an agent cannot be read any more", cause))
  )
}
