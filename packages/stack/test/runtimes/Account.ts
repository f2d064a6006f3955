import { ControlPlaneClient } from "@runplane/api"
import { type CanonicalEvent, RECEIPT_ARTIFACT, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * What a run left behind, without what differs from run to run (ids, times, positions in the log), so that the accounts
 * of two runtimes can be compared word for word.
 */
export interface Account {
  readonly status: string
  /** Events of the session's own messages, in their order. */
  readonly session: ReadonlyArray<string>
  /** All other events, sorted: events of different streams have no order between them. */
  readonly beside: ReadonlyArray<string>
  readonly state: Schema.Json
}

/** Events of a page; more than a scenario has. */
const PAGE = 200

/** Every canonical event of a run, in order. */
export const eventsOf = Effect.fnUntraced(function* (runId: RunId) {
  const { api } = yield* ControlPlaneClient
  const events: Array<CanonicalEvent> = []
  for (;;) {
    const page = yield* api.events.list({
      params: { id: runId },
      query: { afterSeq: events.at(-1)?.seq ?? 0, limit: PAGE }
    })
    const data = "data" in page ? page.data : page
    events.push(...data)
    if (data.length < PAGE) return events
  }
})

export const accountOf = Effect.fnUntraced(function* (runId: RunId) {
  const { api } = yield* ControlPlaneClient
  const params = { id: runId }
  const { status } = yield* api.runs.get({ params, query: {} })
  const state = yield* api.runs.state({ params })
  const events = yield* eventsOf(runId)
  const lines = events.filter((event) => !isReceipt(event)).map((event) => ({ event, line: lineOf(event) }))
  return {
    status,
    session: lines.filter(({ event }) => isOfSession(event)).map(({ line }) => line),
    beside: lines
      .filter(({ event }) => !isOfSession(event) && !isReconnection(event))
      .map(({ line }) => line)
      .toSorted(),
    state: masked(decodeJson(state))
  } satisfies Account
})

const decodeJson = Schema.decodeUnknownSync(Schema.Json)

/** Whether an event stems from an accepted envelope of the session. Denials are reported by a signal of the sender. */
const isOfSession = ({ recorded: { data }, source, type }: CanonicalEvent): boolean =>
  source?.kind === "runtime" &&
  type !== "policy.denied" &&
  "messageId" in data &&
  data["messageType"] !== "Signal" &&
  data["messageType"] !== "Progress"

/** A slow reader is cut off by the runtime and comes back: neither here nor there for what the run is. */
const isReconnection = (event: CanonicalEvent): boolean =>
  event.type === "session.stream.opened" && (event.data.status === "reconnecting" || event.data.status === "recovered")

/** Receipts arrive after the end, and each runtime has its own issuer and keys: `ReceiptSuite.ts` checks them. */
const isReceipt = (event: CanonicalEvent): boolean =>
  event.type === "artifact.created" && event.data.kind === RECEIPT_ARTIFACT

/** Whether senders are verified is of the authentication, which differs between the suites. */
const lineOf = ({ recorded, subject, type }: CanonicalEvent): string => {
  const { senderAuthenticated: _, ...data } = recorded.data
  return `${type} ${subject === undefined ? "-" : masked(`${subject.kind}:${subject.id}`)} ${JSON.stringify(masked(data))}`
}

/** Places in the log, ids of ours and the order between streams: they differ from run to run. */
const PASSING = new Set(["messageId", "sessionId", "timeline", "trace", "traceId", "lastStreamCursor", "receipt"])
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const MOMENT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g
const DIGEST = /\b[0-9a-f]{64}\b/g
const HEX_ID = /\b[0-9a-f]{32}\b/g
/** Smaller numbers are no Unix milliseconds. */
const EARLIEST_MS = 1_500_000_000_000

/** The signal by which an agent of the suite reports a refused message (docs/reference/events.md). */
const REFUSAL_SIGNAL = "message.refused"

/** What a runtime says of a refusal in words of its own, and the report that repeats them. */
const wordsOf = (members: ReadonlyMap<string, Schema.Json>): ReadonlyArray<string> => {
  if (members.get("signalType") === REFUSAL_SIGNAL || members.get("name") === REFUSAL_SIGNAL) return ["data"]
  if (members.get("errorCode") === "POLICY_DENIED") return ["errorMessage"]
  // A refused message in the state, and each reason of a denial, of which the code and the participants are compared.
  if (members.has("denials") || (members.has("code") && members.has("message"))) return ["message"]
  return members.get("decision") === "deny" ? ["reasons"] : []
}

const masked = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") {
    return value
      .replaceAll(UUID, "<id>")
      .replaceAll(MOMENT, "<time>")
      .replaceAll(HEX_ID, "<id>")
      .replaceAll(DIGEST, "<digest>")
  }
  if (typeof value === "number") return value > EARLIEST_MS ? "<time>" : value
  if (value === null || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map(masked)
  const members = Object.entries(value)
  const worded = wordsOf(new Map(members))
  return Object.fromEntries(
    members
      .filter(([key]) => !PASSING.has(key))
      .map(([key, inner]) => [key, worded.includes(key) ? "<words>" : masked(inner)])
      .toSorted(([one = ""], [other = ""]) => (String(one) < String(other) ? -1 : 1))
  )
}
