import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../validation/Fields.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { InboxEntry } from "./Inbox.ts"

const MIN_HEARTBEAT_MS = 1_000
/** Milliseconds between heartbeats of the stream. */
export const INBOX_HEARTBEAT_MS = 15_000

/** The query of `GET /inbox/stream`. */
export const inboxStreamQuery = querySchema({
  heartbeatMs: withDefault(
    integer({ min: MIN_HEARTBEAT_MS, max: INBOX_HEARTBEAT_MS }).annotate(
      about("Milliseconds between heartbeats", INBOX_HEARTBEAT_MS)
    ),
    INBOX_HEARTBEAT_MS
  )
})

/** A frame `item` of `GET /inbox/stream`. */
export const InboxChange = Schema.Struct({
  change: Schema.Literals(["opened", "changed", "closed"]).annotate({
    description:
      "opened: it takes an answer since the last frame; closed: it takes none any more; changed: any other change of the " +
      "item, of who may answer it, or of the session that it is about"
  }),
  item: InboxEntry
}).annotate({ identifier: "InboxChange", description: "An item of the caller as it is now, after a change" })
export type InboxChange = typeof InboxChange.Type

/** The frame `ready` of `GET /inbox/stream`. */
export const InboxStreamReady = Schema.Struct({
  continued: Field.flag("Whether the stream continues after Last-Event-ID; else the list is to be read now")
}).annotate({ identifier: "InboxStreamReady", description: "The begin of the stream" })
