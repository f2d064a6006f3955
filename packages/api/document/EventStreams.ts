import { partAt, type Shape, schemaRef } from "./Shape.ts"

/** What a frame of an event stream, or a line of a text, holds. */
interface Item {
  /** Name of the schema among the components. */
  readonly schema: string
  readonly description: string
}

/**
 * An answer that is not JSON but a sequence of JSON: of frames with the `data` of an event, of frames without a name,
 * or of lines. For readers it is described in words, for programs in the `contentSchema` of the text, which describes
 * the sequence once it is parsed.
 */
export interface ItemStream {
  readonly form: "frames" | "messages" | "lines"
  /** By the name of the event, or the `type` of the message or of the line. */
  readonly items: Readonly<Record<string, Item>>
}

/** The media type of an answer that is such a sequence. */
export const itemMedia = (contentType: string, { form, items }: ItemStream): Shape => ({
  schema: {
    type: "string",
    description: forms[form],
    contentMediaType: contentType,
    contentSchema: {
      type: "array",
      items: { anyOf: Object.entries(items).map(([name, item]) => itemForms[form](name, item)) }
    }
  }
})

const forms = {
  frames: "frames of `event`, `id` and `data`, where `data` is JSON on one line",
  messages: "frames of `data`, JSON on one line whose `type` distinguishes it, and some with an `id`",
  lines: "one JSON object a line, distinguished by `type`"
}

/** What is in the sequence, for readers. */
export const itemText = ({ form, items }: ItemStream): string => `${forms[form]}.\n\n${itemList(items)}`

const itemList = (items: ItemStream["items"]) =>
  Object.entries(items)
    .map(([name, { description, schema }]) => `- \`${name}\` (${schema}): ${description}.`)
    .join("\n")

/** Frames with a seq carry it as their id. */
const hasId = (name: string) => name === "canonical_event"

const itemForms: Readonly<Record<ItemStream["form"], (name: string, item: Item) => Shape>> = {
  frames: (name, { schema }) => ({
    type: "object",
    properties: {
      event: { type: "string", enum: [name], description: "Name of the event" },
      ...(hasId(name)
        ? { id: { type: "string", description: "seq of the event: the Last-Event-ID to resume from" } }
        : {}),
      data: schemaRef(schema)
    },
    required: ["event", ...(hasId(name) ? ["id"] : []), "data"]
  }),
  messages: (_name, { schema }) => ({
    type: "object",
    properties: {
      id: {
        type: "string",
        description: "seq of the last event that the client has: the Last-Event-ID to resume from"
      },
      data: schemaRef(schema)
    },
    required: ["data"]
  }),
  lines: (_name, { schema }) => schemaRef(schema)
}

/** `GET /runs/{id}/stream` (docs/reference/streams.md#stream). */
export const runStream: ItemStream = {
  form: "frames",
  items: {
    snapshot: {
      schema: "RunState",
      description:
        "the whole projected state; first, unless includeSnapshot is false, and again after events, a few times a second at most and always after the last one, unless snapshots is first. Without an id"
    },
    canonical_event: {
      schema: "CanonicalEvent",
      description: "one event, in front of any snapshot that includes it; the id is its seq"
    },
    heartbeat: {
      schema: "Heartbeat",
      description: "every heartbeatMs, and how far the run has come. Without an id"
    },
    reset: {
      schema: "Reset",
      description:
        "the log of the run ends before the cursor, because it was restored from a backup: what the client has of the run is void. A snapshot follows, and the events from then on. The id is the seq of the run's last event"
    }
  }
}

/** `GET /events/stream` (docs/reference/streams.md#log-stream). */
export const logStream: ItemStream = {
  form: "frames",
  items: {
    canonical_event: { schema: "CanonicalEvent", description: "one event that matches; the id is its seq" },
    heartbeat: {
      schema: "LogHeartbeat",
      description:
        "at the beginning and every heartbeatMs: every match up to its seq has been sent. Its id is that seq, too"
    },
    reset: {
      schema: "LogReset",
      description:
        "the log ends before the cursor, because it was restored from a backup: what the client has from beyond its end is void. The stream goes on from that end, and the id is its seq"
    }
  }
}

/** `GET /runs/{id}/replay/stream` (docs/reference/streams.md#replay). */
export const replayStream: ItemStream = {
  form: "frames",
  items: { canonical_event: { schema: "CanonicalEvent", description: "one event; the id is its seq" } }
}

/** `GET` and `POST /runs/{id}/ag-ui` (docs/reference/ag-ui.md). */
export const agUiStream: ItemStream = {
  form: "messages",
  items: { AgUiEvent: { schema: "AgUiEvent", description: "an event of AG-UI 1.0" } }
}

/** The other form of `GET /runs/{id}/export` (docs/reference/runs.md#export). */
export const exportLines: ItemStream = {
  form: "lines",
  items: {
    header: { schema: "ExportHeader", description: "the first line: everything but the events" },
    canonical_event: { schema: "ExportedEvent", description: "one line for each canonical event, by seq" },
    raw_event: { schema: "ExportedFrame", description: "one line for each frame, when includeRaw is true" },
    seal: { schema: "ExportedSeal", description: "the last line but one: the seal, and what proves the events" },
    digest: { schema: "ExportedDigest", description: "the last line: the digest of every byte before it" }
  }
}

/** `POST /policies/backtest` (docs/reference/decisions.md#backtest). */
export const backtestLines: ItemStream = {
  form: "lines",
  items: {
    progress: { schema: "BacktestProgress", description: "how far it has come; many times" },
    flip: { schema: "BacktestFlip", description: "one line for each run that would have ended otherwise" },
    summary: { schema: "BacktestSummary", description: "the last line: what was found in all" }
  }
}

/** Schemas of what only these sequences hold; lines are made of schemas that are declared. */
export const itemSchemas = (declared: Shape): Shape => ({
  AgUiEvent: {
    type: "object",
    description: "An event of AG-UI 1.0; its other members depend on its type",
    properties: {
      type: { type: "string", description: "What it says", example: "TEXT_MESSAGE_CONTENT" },
      timestamp: { type: "integer", description: "Time of the event of the run, milliseconds since 1970" }
    },
    required: ["type"]
  },
  Heartbeat: {
    type: "object",
    description: "The stream is alive",
    properties: {
      ts: { type: "string", format: "date-time", description: "Time of the heartbeat" },
      seq: { type: "integer", description: "seq of the run's last event" },
      index: { type: "integer", description: "index of that event" }
    },
    required: ["ts", "seq", "index"],
    additionalProperties: false
  },
  LogHeartbeat: {
    type: "object",
    description: "The stream of the log is alive",
    properties: {
      ts: { type: "string", format: "date-time", description: "Time of the heartbeat" },
      seq: { type: "integer", description: "Every match up to here has been sent" }
    },
    required: ["ts", "seq"],
    additionalProperties: false
  },
  Reset: {
    type: "object",
    description: "The stream of a run begins again",
    properties: {
      ts: { type: "string", format: "date-time", description: "Time of the reset" },
      seq: { type: "integer", description: "seq of the run's last event" },
      index: { type: "integer", description: "index of that event" },
      afterSeq: { type: "integer", description: "The cursor, which is beyond the end of the log" }
    },
    required: ["ts", "seq", "index", "afterSeq"],
    additionalProperties: false
  },
  LogReset: {
    type: "object",
    description: "The stream of the log begins again",
    properties: {
      ts: { type: "string", format: "date-time", description: "Time of the reset" },
      seq: { type: "integer", description: "The end of the log, from which the stream goes on" },
      afterSeq: { type: "integer", description: "The cursor, which is beyond that end" }
    },
    required: ["ts", "seq", "afterSeq"],
    additionalProperties: false
  },
  ExportHeader: line(partAt(declared, "RunBundle"), "header", "The head of an export by lines", {
    leftOut: ["canonicalEvents", "rawEvents", "seal", "heads", "salts", "erasures", "digest"]
  }),
  ExportedEvent: line(
    partAt(declared, "CanonicalEvent"),
    "canonical_event",
    "A canonical event of an export by lines",
    {
      added: { eventType: schemaRef("CanonicalEventType") }
    }
  ),
  ExportedFrame: line(partAt(declared, "RawEvent"), "raw_event", "A frame of an export by lines"),
  ExportedSeal: line(partAt(declared, "RunBundle"), "seal", "The seal of an export by lines", {
    leftOut: [
      ...["run", "session", "projection", "metrics", "artifacts", "canonicalEvents", "rawEvents", "exportedAt"],
      "digest"
    ]
  }),
  ExportedDigest: line(partAt(declared, "ExportDigest"), "digest", "The digest of an export by lines")
})

interface LineChanges {
  readonly leftOut?: ReadonlyArray<string>
  readonly added?: Shape
}

/** The fields of a schema on a line, whose `type` says what it holds. */
const line = (
  schema: Shape,
  type: string,
  description: string,
  { added = {}, leftOut = [] }: LineChanges = {}
): Shape => {
  const isKept = (key: string) => key !== "type" && !leftOut.includes(key)
  const fields = Object.entries(partAt(schema, "properties")).filter(([key]) => isKept(key))
  const required = Array.isArray(schema["required"]) ? schema["required"].filter(isKept) : []
  return {
    ...schema,
    description,
    properties: {
      type: { type: "string", enum: [type], description: "What the line holds" },
      ...added,
      ...Object.fromEntries(fields)
    },
    required: ["type", ...Object.keys(added), ...required]
  }
}
