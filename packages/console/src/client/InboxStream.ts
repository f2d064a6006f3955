import { InboxStreamReady } from "@runplane/api"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makeStore } from "../view/live/Store.ts"
import { INBOX_PATH } from "./Inbox.ts"

/** Whether the stream of the service is open; the page reads at intervals while it is away. */
export const inboxStream = makeStore<"opening" | "open" | "away">("opening")

/** A refused stream, and one of a browser that has given up, is opened again after so long. Milliseconds. */
const AGAIN_MS = 15_000

const readReady = Schema.decodeUnknownOption(Schema.fromJsonString(InboxStreamReady))

/**
 * Follows the stream of the inbox until the returned function is called. The browser reconnects with the id of the last
 * frame, and the service continues from there.
 */
export const followStream = (changed: () => void): (() => void) => {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const open = () => {
    source = new EventSource(`${INBOX_PATH}/stream`)
    source.addEventListener("ready", ({ data }) => {
      inboxStream.set("open")
      if (!Option.exists(readReady(data), ({ continued }) => continued)) changed()
    })
    source.addEventListener("item", changed)
    source.addEventListener("reset", changed)
    source.addEventListener("error", () => {
      inboxStream.set("away")
      if (source?.readyState !== EventSource.CLOSED) return
      clearTimeout(timer)
      timer = setTimeout(open, AGAIN_MS)
    })
  }
  open()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}
