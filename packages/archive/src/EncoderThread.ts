/* The thread of `EventEncoder.ts`. */
import { parentPort } from "node:worker_threads"
import { addEvents, type DayFiles, openDayFiles } from "./DayFiles.ts"
import { type EncoderReply, type EncoderRequest, eventsOf } from "./EncoderMessages.ts"

let current: { readonly range: number; readonly files: DayFiles<"events"> } | undefined

const filesOf = (range: number): DayFiles<"events"> => {
  if (current?.range !== range) current = { range, files: openDayFiles("events") }
  return current.files
}

const replyTo = (request: EncoderRequest): EncoderReply => {
  const { id, kind, range } = request
  try {
    const files = filesOf(range)
    if (kind === "add") {
      addEvents(files, request.cell, eventsOf(request))
      return { kind: "added", id }
    }
    current = undefined
    return { kind: "finished", id, files: files.finish() }
  } catch (cause) {
    current = undefined
    return { kind: "failed", id, message: cause instanceof Error ? cause.message : String(cause) }
  }
}

parentPort?.on("message", (request: EncoderRequest) => parentPort?.postMessage(replyTo(request)))
