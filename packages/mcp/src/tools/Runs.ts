import { type Run, runSortKeys } from "@runplane/api"
import { type CanonicalEvent, scenarioOfRecord, subjectsOfRuns } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { DECISION_TYPES, eventItem, narrativeTypes } from "../Events.ts"
import type { Facts } from "../Facts.ts"
import { defined, type Item, MAX_ROW_BYTES } from "../Shape.ts"
import { type CallContext, page, tool } from "../ToolSpec.ts"
import { bounded, limit, q, runId, seq, text } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

/** Milliseconds between two times. */
const span = (from: string | undefined, to: string | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Date.parse(to) - Date.parse(from)

const finalAction = ({ metadata }: Run) =>
  typeof metadata["finalAction"] === "string" ? metadata["finalAction"] : undefined

/** A run as a row: ids and numbers. */
export const runRow = (run: Run): Facts =>
  defined({
    id: run.id,
    status: run.status,
    decision: finalAction(run),
    scenario: scenarioOfRecord(run),
    policy: run.policyVersion,
    events: run.lastEventIndex,
    tokens: run.usage?.totalTokens,
    costUsd: run.usage?.estimatedCostUsd,
    at: run.createdAt,
    ms: span(run.createdAt, run.endedAt),
    error: run.errorCode
  })

const errorOf = ({ errorMessage }: Run) =>
  errorMessage === undefined ? [] : [{ of: { by: "run", what: "error" }, text: errorMessage }]

/** Rows of a page that fit into an answer for sure: a cursor of the service continues only behind a whole page. */
export const rowsWithin = ({ backend }: CallContext, wanted: number): number =>
  Math.max(1, Math.min(wanted, Math.floor((backend.maxResultBytes / 2 - 2_000) / (MAX_ROW_BYTES + 1))))

const runsSearch = tool({
  name: "runs_search",
  title: "Search runs",
  description:
    "Finds runs by the search language, newest first unless sorted. Start here when you have no run id. Not for events " +
    "inside a run (run_events) and not for sums (cost_summary, stability).",
  access: "viewer",
  input: {
    q,
    sort: Schema.optionalKey(
      Schema.Literals([...runSortKeys, ...runSortKeys.map((key) => `-${key}` as const)]).annotate({
        description: "Largest or newest first; with - the smallest or oldest first"
      })
    ),
    limit: limit(50, 10),
    cursor: Schema.optionalKey(text("nextCursor of the page before", 1_000))
  },
  output: { total: scalar, ...page },
  call: Effect.fnUntraced(function* (input, context) {
    const key = input.sort?.replace("-", "")
    const sortBy = runSortKeys.find((name) => name === key) ?? "createdAt"
    const found = yield* context.backend.plane.api.runs.list({
      query: {
        limit: rowsWithin(context, input.limit ?? 10),
        offset: 0,
        sortBy,
        sortOrder: input.sort?.startsWith("-") ? "asc" : "desc",
        includeArchived: false,
        ...(input.q !== undefined && { q: input.q }),
        ...(input.cursor !== undefined && { cursor: input.cursor })
      }
    })
    return {
      facts: { total: found.total },
      items: found.data.map((run) => ({ row: runRow(run) })),
      // A full page has a cursor, also when it is the last one.
      nextCursor: input.cursor === undefined && found.total <= found.data.length ? undefined : found.nextCursor,
      omitted: input.cursor === undefined ? found.total - found.data.length : undefined,
      rest: "run_get"
    }
  })
})

/** What a run is now: its record, its counters, its decision and its participants. */
export const runFacts = Effect.fnUntraced(function* (id: string, { backend: { plane } }: CallContext) {
  const params = { id }
  const [run, state] = yield* Effect.all(
    [plane.api.runs.get({ params, query: {} }), plane.api.runs.state({ params })],
    { concurrency: 2 }
  )
  const { current } = state.decision
  const { totals } = state.llm
  const facts = defined({
    ...runRow(run),
    session: run.runtimeSessionId,
    mode: run.modeName,
    tags: run.tags.slice(0, 20),
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    historyGap: run.historyGap,
    lastSeq: run.lastEventSeq,
    tokens: totals.totalTokens,
    costUsd: totals.estimatedCostUsd,
    guessedCostUsd: totals.guessedCostUsd,
    calls: totals.callCount,
    decision:
      current &&
      defined({
        action: current.action,
        final: current.finalized,
        positive: current.outcomePositive,
        by: current.resolvedBy,
        at: current.resolvedAt,
        confidence: current.confidence
      }),
    votes: (state.policy.voteTally ?? []).slice(-3).map(({ allow, commitmentId, deny, quorum }) => ({
      on: commitmentId,
      for: allow,
      against: deny,
      cast: quorum.cast,
      required: quorum.required
    })),
    quorum: state.policy.quorumStatus,
    participants: state.participants
      .slice(0, 30)
      .map((participant) =>
        defined({ id: participant.participantId, role: participant.role, last: participant.latestSummary })
      ),
    participantCount: state.participants.length,
    signals: state.signals.signals.length
  })
  return { facts, run, state }
})

const runGet = tool({
  name: "run_get",
  title: "Read a run",
  description:
    "Status, decision, votes, participants and cost of one run as it is now. Not for what happened in order (run_story) " +
    "and not for the reasons of a decision (decision_explain).",
  access: "viewer",
  input: { runId },
  output: { id: scalar, status: scalar, decision: scalar },
  call: Effect.fnUntraced(function* (input, context) {
    const { facts, run, state } = yield* runFacts(input.runId, context)
    const texts = [
      { of: { by: state.run.initiator ?? "run", what: "intent" }, text: state.run.intent ?? "" },
      ...errorOf(run),
      ...(state.decision.current?.reasons ?? []).slice(0, 5).map((reason) => ({
        of: { by: state.decision.current?.resolvedBy ?? "", what: "reason" },
        text: reason
      }))
    ]
    return { facts, said: texts.filter(({ text }) => text !== ""), rest: "run_story" }
  })
})

/** Events of a page of `GET /events`, most of one answer. */
const MAX_EVENTS = 100

const eventsOf = (
  { backend: { plane } }: CallContext,
  query: {
    readonly runId?: string
    readonly afterSeq: number
    readonly limit: number
    readonly type?: ReadonlyArray<string>
    readonly q?: string
  }
) => plane.api.crossRunEvents.list({ query })

/** The id of a run, of the id of its session. */
const idOf = (reference: string, { backend: { plane } }: CallContext) =>
  Effect.map(plane.api.runs.get({ params: { id: reference }, query: {} }), ({ id }) => id)

/** The events with their subjects, as far as these events show them. */
const listed = (events: ReadonlyArray<CanonicalEvent>, withRun: boolean) => {
  const subjectOf = subjectsOfRuns()
  return { items: events.map((event) => eventItem(event, withRun, subjectOf(event))), rest: "run_events" }
}

const runStory = tool({
  name: "run_story",
  title: "Read the story of a run",
  description:
    "The events that matter in one run, in order: proposals, votes, tools, model calls, decision, end. Continue with " +
    "sinceIndex. Not for every event (run_events), and not for a run that still works (run_wait).",
  access: "viewer",
  input: { runId, sinceIndex: seq("Only events with a greater index: that of the last row before") },
  output: { runId: scalar, status: scalar, ...page },
  call: Effect.fnUntraced(function* (input, context) {
    const run = yield* context.backend.plane.api.runs.get({ params: { id: input.runId }, query: {} })
    const { items, total } = yield* narrativePages(context, run, input.sinceIndex ?? 0)
    return {
      facts: { runId: run.id, status: run.status, events: run.lastEventIndex, sinceIndex: input.sinceIndex ?? 0 },
      items,
      rest: "run_events",
      omitted: Math.max(0, total - items.length),
      nextCursor: total > items.length ? items.at(-1)?.cursor : undefined
    }
  })
})

/** Pages that one call reads at most to find an index. */
const MAX_PAGES = 40
const PAGE = 500

/** Events of the narrative behind an index, as many as an answer can have; `total` counts what is behind the index. */
const narrativePages = Effect.fnUntraced(function* (context: CallContext, run: Run, since: number) {
  const found: Array<Item & { readonly cursor: number }> = []
  const subjectOf = subjectsOfRuns()
  let afterSeq = 0
  let total = 0
  for (let pages = 0; pages < MAX_PAGES && found.length < MAX_EVENTS; pages += 1) {
    const {
      data,
      nextCursor,
      total: rest = 0
    } = yield* eventsOf(context, { runId: run.id, afterSeq, limit: PAGE, type: narrativeTypes(run.runtimeKind) })
    // The events before the index show what the later ones are about.
    const all = data.map((event) => ({ ...eventItem(event, false, subjectOf(event)), cursor: event.index }))
    const fresh = all.filter(({ cursor }) => cursor > since)
    if (found.length === 0) total = rest - (all.length - fresh.length)
    found.push(...fresh.slice(0, MAX_EVENTS - found.length))
    if (nextCursor === undefined) break
    afterSeq = nextCursor
  }
  return { items: found, total }
})

const runEvents = tool({
  name: "run_events",
  title: "List events of a run",
  description:
    "Events of one run by seq, filtered by types or a search. Use it for details that run_story leaves out. Not for an " +
    "overview, and not across runs (fleet_tail, runs_search).",
  access: "viewer",
  input: {
    runId,
    types: Schema.optionalKey(Schema.Array(text("Event type, such as proposal.updated")).check(Schema.isMaxLength(40))),
    afterSeq: seq("nextCursor of the page before"),
    q,
    limit: limit(MAX_EVENTS, 20)
  },
  output: { runId: scalar, total: scalar, ...page },
  call: Effect.fnUntraced(function* (input, context) {
    const id = yield* idOf(input.runId, context)
    const found = yield* eventsOf(context, {
      runId: id,
      afterSeq: input.afterSeq ?? 0,
      limit: input.limit ?? 20,
      ...(input.types !== undefined && { type: input.types }),
      ...(input.q !== undefined && { q: input.q })
    })
    return {
      facts: defined({ runId: id, total: found.total }),
      ...listed(found.data, false),
      nextCursor: found.nextCursor,
      omitted: Math.max(0, (found.total ?? 0) - found.data.length)
    }
  })
})

const runWait = tool({
  name: "run_wait",
  title: "Wait for the end of a run",
  description:
    "Answers when the run has ended, or after timeoutMs with its status so far; call it again then. Not for runs that " +
    "have ended (run_get), and not for several runs (fleet_tail).",
  access: "viewer",
  input: { runId, timeoutMs: Schema.optionalKey(bounded(0, 45_000).annotate({ description: "30000 unless given" })) },
  output: { id: scalar, status: scalar, ended: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const query = { wait: "terminal", timeoutMs: input.timeoutMs ?? 30_000 } as const
    const run = yield* plane.api.runs.get({ params: { id: input.runId }, query })
    return { facts: { ...runRow(run), ended: run.endedAt !== undefined }, said: errorOf(run), rest: "run_get" }
  })
})

const fleetTail = tool({
  name: "fleet_tail",
  title: "Follow the events of all runs",
  description:
    "Events of all runs behind afterSeq; waits up to timeoutMs for the first one. Without afterSeq it begins now. Not " +
    "for one run (run_events, run_wait), and not for history (runs_search).",
  access: "viewer",
  input: {
    afterSeq: seq("nextCursor of the answer before"),
    q,
    timeoutMs: Schema.optionalKey(bounded(0, 20_000).annotate({ description: "5000 unless given" })),
    limit: limit(MAX_EVENTS, 20)
  },
  output: { ...page },
  call: Effect.fnUntraced(function* (input, context) {
    const query = { ...(input.q !== undefined && { q: input.q }), limit: input.limit ?? 20 }
    const now = input.afterSeq ?? (yield* lastSeq(context))
    const read = eventsOf(context, { ...query, afterSeq: now })
    const first = yield* read
    const isEmpty = first.data.length === 0 && (input.timeoutMs ?? 5_000) > 0
    const found = isEmpty ? yield* Effect.andThen(nextEvent(context, now, input), read) : first
    return {
      facts: {},
      ...listed(found.data, true),
      nextCursor: found.nextCursor ?? found.data.at(-1)?.seq ?? now
    }
  })
})

/** Waits for the first event behind a seq, or for the end of the time. */
const nextEvent = (
  { backend: { plane } }: CallContext,
  afterSeq: number,
  input: { readonly q?: string; readonly timeoutMs?: number }
) =>
  plane.streamLog({ afterSeq, ...(input.q !== undefined && { q: input.q }) }).pipe(
    Stream.filter(({ event }) => event === "canonical_event"),
    Stream.take(1),
    Stream.runDrain,
    Effect.timeoutOption(input.timeoutMs ?? 5_000)
  )

/** The seq of the end of the log: the first frame of its stream says it. */
const lastSeq = ({ backend: { plane } }: CallContext) =>
  Effect.map(Stream.runHead(plane.streamLog()), (first) =>
    Option.match(first, { onNone: () => 0, onSome: ({ data }) => data.seq })
  )

/** Index of the last event that changes what the decision can become; 0 for none. */
export const lastDecisionIndex = Effect.fnUntraced(function* (runId: string, from: number, context: CallContext) {
  let afterSeq = from
  let last = 0
  for (;;) {
    const { data, nextCursor } = yield* eventsOf(context, { runId, afterSeq, limit: PAGE, type: DECISION_TYPES })
    last = data.at(-1)?.index ?? last
    if (nextCursor === undefined || nextCursor <= afterSeq) return last
    afterSeq = nextCursor
  }
})

export const runTools = [runsSearch, runGet, runStory, runEvents, runWait, fleetTail]
