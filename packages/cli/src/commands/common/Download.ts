import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { CliFailure, EXIT_CODES, usageProblem } from "../../CliFailure.ts"
import { whyUnreachable } from "../../Unreachable.ts"

/** The bytes of a file, or a usage problem that names it. */
export const bytesOf = Effect.fnUntraced(
  function* (file: string, most: number) {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.stat(file)
    if (info.type !== "File") return yield* usageProblem(`${file} is not a file`)
    if (Number(info.size) > most) {
      return yield* usageProblem(`${file} is larger than ${most / 1024 / 1024} MB`)
    }
    return yield* fs.readFile(file)
  },
  (read, file) =>
    Effect.catchTag(read, "PlatformError", ({ reason }) =>
      Effect.fail(usageProblem(`${file} cannot be read (${reason._tag})`))
    )
)

export const isAddress = (text: string): boolean => /^https?:\/\//.test(text)

/** What a command downloads, and its bounds. */
export interface Download {
  /** Noun for messages: `keys`. */
  readonly what: string
  /** The flag that sets the address. */
  readonly setBy: string
  /** Largest answer, bytes. */
  readonly most: number
  /** Limit of the whole answer, milliseconds. */
  readonly timeoutMs: number
}

/** The bytes that an address answers. */
export const fetchBytes = (address: string, { most, setBy, timeoutMs, what }: Download) =>
  Effect.tryPromise({
    try: async (signal) => {
      const answer = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) })
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
      const pieces: Array<Uint8Array> = []
      let bytes = 0
      for await (const piece of answer.body ?? []) {
        bytes += piece.length
        if (bytes > most) throw new Error(`its answer is too large for ${what}`)
        pieces.push(piece)
      }
      return Buffer.concat(pieces)
    },
    catch: (error) => {
      const why = whyUnreachable(error, { baseUrl: address, setBy })
      return new CliFailure({ reason: `no ${what} from ${address}: ${why}`, code: EXIT_CODES.unreachable })
    }
  })
