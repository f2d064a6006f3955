import type { Run, RunBundle } from "@runplane/api"
import { type ExportedMarkEntry, isReplaceable, type Mark, raterOf } from "@runplane/domain"

/** An exported run, as its page has it; the client decodes each part of it. */
export interface OfflineRun extends Pick<RunBundle, "artifacts" | "exportedAt" | "marks" | "projection"> {
  /** The record as `GET /runs/:id` has it. */
  readonly run: Run
  readonly canonicalEvents: ReadonlyArray<{ readonly seq: number }>
}

/** The answer of a service that has the exported run alone: JSON, or the text of an event stream. */
export interface OfflineAnswer {
  readonly status: number
  readonly contentType: "application/json" | "text/event-stream"
  readonly body: string
}

const json = (value: unknown, status = 200): OfflineAnswer => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(value)
})

const slotOf = ({ author, content, name, target }: AddedEntry): string =>
  JSON.stringify([
    target.kind,
    target.id ?? "",
    name,
    raterOf({ author, ...(content?.judge !== undefined && { judge: content.judge }) })
  ])

type AddedEntry = Extract<ExportedMarkEntry, { readonly action: "add" }>

/** The current marks of an export, the newest first: neither deleted nor replaced by a later one of the same rater. */
export const marksOf = (runId: string, entries: ReadonlyArray<ExportedMarkEntry>): ReadonlyArray<Mark> => {
  const deleted = new Set(entries.flatMap((entry) => (entry.action === "delete" ? [entry.id] : [])))
  const taken = new Set<string>()
  return entries.toReversed().flatMap((entry) => {
    if (entry.action !== "add") return []
    const slot = slotOf(entry)
    const isReplaced = taken.has(slot)
    if (isReplaceable(entry.name)) taken.add(slot)
    const { content, index, authorName } = entry
    if (isReplaced || content === undefined || deleted.has(entry.id)) return []
    const { id, target, name, source, author, createdAt } = entry
    const { comment, judge, value } = content
    return [
      {
        ...{ id, runId, target, name, source, author, createdAt },
        ...(value !== undefined && { value }),
        ...(comment !== undefined && { comment }),
        ...(judge !== undefined && { judge }),
        ...(index !== undefined && { index }),
        ...(authorName !== undefined && { authorName })
      }
    ]
  })
}

const frame = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** The state of the run, and its events behind a position. */
const streamOf = ({ canonicalEvents, projection }: OfflineRun, afterSeq: number): string =>
  [
    ...(projection === null ? [] : [frame("snapshot", projection)]),
    ...canonicalEvents.filter(({ seq }) => seq > afterSeq).map((event) => frame("canonical_event", event))
  ].join("")

/** Requests beside the run itself. */
const OTHERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["/me", { id: "offline", name: "offline", type: "anonymous", role: "viewer" }],
  ["/marks/definitions", []],
  ["/policies", []]
])

/**
 * Answers a read of the console from an exported run, as the service would (docs/reference/http.md). What the export
 * does not have is 404, and a change is 405.
 */
export const answerOf = (exported: OfflineRun, method: string, address: URL): OfflineAnswer => {
  const error = (statusCode: number, errorCode: string, message: string) =>
    json({ statusCode, errorCode, message }, statusCode)
  if (method !== "GET") return error(405, "METHOD_NOT_ALLOWED", "an exported run is read-only")
  const { pathname, searchParams } = address
  const number = (name: string, usual: number) => Number(searchParams.get(name) ?? usual)
  const { artifacts, canonicalEvents, marks, projection, run } = exported
  const part = pathname.split(`/runs/${run.id}`)[1]
  const [, other] = [...OTHERS].find(([path]) => pathname.endsWith(path)) ?? []
  switch (part) {
    case "":
      return json(run)
    case "/state":
      return json(projection)
    case "/artifacts":
      return json(artifacts)
    case "/spans":
      return json({ data: [], nextCursor: 0, hasMore: false })
    case "/events": {
      const behind = canonicalEvents.filter(({ seq }) => seq > number("afterSeq", 0))
      return json(behind.slice(0, number("limit", behind.length)))
    }
    case "/marks": {
      const all = marksOf(run.id, marks?.entries ?? [])
      const [limit, offset] = [number("limit", all.length), number("offset", 0)]
      return json({ data: all.slice(offset, offset + limit), total: all.length, limit, offset })
    }
    case "/stream":
      return { status: 200, contentType: "text/event-stream", body: streamOf(exported, number("afterSeq", 0)) }
    default:
      return other === undefined ? error(404, "NOT_FOUND", "the exported run does not have it") : json(other)
  }
}
