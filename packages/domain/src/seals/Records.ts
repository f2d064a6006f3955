import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type CanonicalEvent, decodeEventText, type EventOf } from "../events/CanonicalEvent.ts"
import { loggedDecision } from "../events/LoggedDecision.ts"
import { ERASED_TEXT } from "../events/ShownData.ts"
import { emptyRunMetrics, measure } from "../projector/Metrics.ts"
import { emptyRunState, project } from "../projector/Projector.ts"
import type { LoggedDecision } from "../receipts/ReceiptComparison.ts"
import type { StoredReceipt } from "../receipts/StoredReceipt.ts"
import type { RunStatus } from "../run/RunStatus.ts"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { RunId } from "../values/Ids.ts"
import { isJsonObject, objectAt, textAt, textsAt } from "../values/JsonReader.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { memberSpans } from "./JsonSpans.ts"

/** The records beside the events of an export, as bytes. */
export interface Records {
  readonly run: Uint8Array
  /** `null` where there is none; likewise the projection and the metrics. */
  readonly session: Uint8Array
  readonly projection: Uint8Array
  readonly metrics: Uint8Array
  readonly artifacts: Iterable<Uint8Array>
}

/** A record that differs from the events. */
export interface Contradiction {
  readonly why: string
  /** Another release may fold the same events into another projection or other counters. */
  readonly isFold: boolean
}

/** What the comparison of the records with the events found. */
export interface Compared {
  readonly contradictions: ReadonlyArray<Contradiction>
  /** Artifacts with content of which no event has a digest. */
  readonly unhashed: number
  /** The receipt of the decision; undefined without one. */
  readonly receipt: StoredReceipt | undefined
  /** What an export of a run in the archive lacks (docs/reference/archive.md#reading-runs). */
  readonly lacking: { readonly session: boolean; readonly contents: number }
}

/** What is compared with the events (docs/reference/seal.md#records). */
export const comparedRecords = ({ contents, session }: Compared["lacking"]): ReadonlyArray<string> => [
  RUN_MEMBERS,
  ...(session ? [] : [SESSION_MEMBERS]),
  "projection",
  "metrics",
  contents > 0 ? "artifacts: id, kind, label, uri, order" : "artifacts: id, kind, label, uri, order, content"
]

/** What an export of a run in the archive lacks, for the list of what is not proven. */
export const lackingRecords = ({ contents, session }: Compared["lacking"]): ReadonlyArray<string> => [
  ...(session ? ["session: the archive does not have it"] : []),
  ...(contents > 0 ? [`the content of ${contents} artifacts: the archive does not have it`] : [])
]

const RUN_MEMBERS = "run: status, runtimeKind, runtimeSessionId, traceId, startedAt, endedAt"
const SESSION_MEMBERS =
  "session: runtimeKind, runtimeSessionId, modeName, modeVersion, configurationVersion, policyVersion, " +
  "initiatorParticipantId, sessionState, participants"

/** The members that no event has, so that no seal proves them. */
export const UNPROVEN_RECORDS = [
  "run: runtimeVersion, createdAt, tags, archivedAt, source, metadata",
  "session: expiresAt, lastSeenAt, capabilities, lastStreamCursor, streamConnectedAt, streamDisconnectedAt, " +
    "createdAt, updatedAt",
  "artifacts: createdAt",
  "what an export does not hold: other columns of these tables, messages, counts across runs"
] as const

type Bound = EventOf<"session.bound">["data"]
type Created = EventOf<"artifact.created">["data"]

/** Collects the records of a run from its events, in their order, without keeping the events. */
export const startRecords = (sha256: Sha256, runId: string) => {
  let state = emptyRunState(runId)
  let metrics = emptyRunMetrics(RunId.make(runId))
  let created: EventOf<"run.created">["data"] | undefined
  let bound: Bound | undefined
  let sessionState: string | undefined
  let startedAt: string | undefined
  let end: { readonly status: RunStatus; readonly endedAt: string | undefined } | undefined
  const artifacts = new Map<string, Created>()
  let logged: LoggedDecision | undefined

  const collect = (event: CanonicalEvent) => {
    switch (event.type) {
      case "run.created":
        created ??= event.data
        return
      case "run.started":
        startedAt = event.data.startedAt
        return
      case "run.completed":
        end = { status: "completed", endedAt: event.data.endedAt }
        startedAt = event.data.startedAt ?? startedAt
        return
      case "run.failed":
        end = { status: "failed", endedAt: event.data.endedAt }
        startedAt = event.data.startedAt ?? startedAt
        return
      case "run.cancelled":
        end = { status: "cancelled", endedAt: event.data.endedAt }
        return
      case "run.corrected":
        end = { status: event.data.status ?? end?.status ?? "completed", endedAt: event.data.endedAt ?? end?.endedAt }
        startedAt = event.data.startedAt ?? startedAt
        return
      case "session.bound":
        if (bound !== undefined) return
        bound = event.data
        sessionState = event.data.state
        return
      case "session.state.changed":
        if (bound !== undefined) sessionState = event.data.state ?? sessionState
        return
      case "decision.finalized":
        logged = loggedDecision(event)
        return
      case "artifact.created":
        artifacts.set(event.data.artifactId, event.data)
    }
  }

  const take = (text: string): void => {
    const event = Result.getOrUndefined(decodeEventText(text))
    if (event === undefined) return
    state = project(state, event)
    metrics = measure(metrics, event)
    collect(event)
  }

  const ofRun = (run: Schema.JsonObject): ReadonlyArray<string> => {
    const status = textAt(run, "status")
    const isOpen = end === undefined && !ENDED.has(status ?? "")
    return [
      ...(created === undefined && state.timeline.latestIndex > 0 ? ["its events do not say that it was created"] : []),
      ...(isOpen ? [] : differs("run.status", status, end?.status)),
      ...differs("run.startedAt", textAt(run, "startedAt"), startedAt),
      ...differs("run.endedAt", textAt(run, "endedAt"), end?.endedAt),
      ...(created === undefined
        ? []
        : [
            ...differs("run.runtimeKind", textAt(run, "runtimeKind"), created.runtimeKind),
            ...differs("run.runtimeSessionId", textAt(run, "runtimeSessionId"), created.runtimeSessionId),
            ...differs("run.traceId", textAt(run, "traceId"), created.traceId)
          ])
    ]
  }

  const ofSession = (session: Schema.JsonObject | undefined, isCold: boolean): ReadonlyArray<string> => {
    if (isCold && session === undefined) return []
    if (session === undefined || bound === undefined) {
      return session === bound ? [] : [`the session is ${session === undefined ? "missing" : "of no event"}`]
    }
    const member = (name: string, expected: string | undefined) =>
      differs(`session.${name}`, textAt(session, name), expected)
    const metadata = session["metadata"]
    const participants = isJsonObject(metadata) ? textsAt(metadata, "participants") : []
    // An event names the default policy where the runtime names none.
    const isDefault = textAt(session, "policyVersion") === undefined && bound.policyVersion === DEFAULT_POLICY
    return [
      ...member("runId", runId),
      ...member("runtimeKind", created?.runtimeKind),
      ...member("runtimeSessionId", bound.sessionId),
      ...member("modeName", bound.modeName),
      ...member("modeVersion", bound.modeVersion),
      ...member("configurationVersion", bound.configurationVersion),
      ...(isDefault ? [] : member("policyVersion", bound.policyVersion)),
      ...member("initiatorParticipantId", bound.initiator),
      ...member("sessionState", sessionState),
      ...differs("session.metadata.participants", canonicalJson(participants), canonicalJson(bound.participants))
    ]
  }

  const ofArtifacts = (exported: Iterable<Uint8Array>, isCold: boolean) => {
    const expected = [...artifacts]
    const contradictions: Array<string> = []
    let unhashed = 0
    let contents = 0
    let position = 0
    let receipt: StoredReceipt | undefined
    for (const bytes of exported) {
      const spans = memberSpans(bytes)
      const artifact = objectOf(bytes)
      const [id, added] = expected[position] ?? []
      position += 1
      if (spans === undefined || artifact === undefined) {
        contradictions.push(`artifact ${position} cannot be read`)
        continue
      }
      const name = `artifact ${textAt(artifact, "id")}`
      if (id === undefined || added === undefined || id !== artifact["id"]) {
        contradictions.push(
          `artifact ${position} is ${textAt(artifact, "id")}, its events say ${id ?? "that there is none"}`
        )
        continue
      }
      const inline = spans.get("inline")
      const isOmitted = isCold && inline === undefined && artifact["inlineOmitted"] === true
      if (isOmitted) contents += 1
      if (added.receipt !== undefined && !isOmitted) {
        receipt = { recorded: added.receipt, inline: objectAt(artifact, "inline") ?? {}, logged }
      }
      const digest = inline && Hex.encode(sha256(bytes.subarray(inline.start, inline.end)))
      const contentSha256 = added.contentSha256 === ERASED_TEXT ? undefined : added.contentSha256
      if (digest !== undefined && contentSha256 === undefined) unhashed += 1
      contradictions.push(
        ...differs(`${name}: runId`, textAt(artifact, "runId"), runId),
        ...differs(`${name}: kind`, textAt(artifact, "kind"), added.kind),
        ...differs(`${name}: label`, textAt(artifact, "label"), added.label),
        ...differs(`${name}: uri`, textAt(artifact, "uri"), added.uri),
        ...(contentSha256 === undefined || contentSha256 === digest || isOmitted
          ? []
          : [`${name}: its content is not the one that was added`])
      )
    }
    for (const [id] of expected.slice(position)) contradictions.push(`artifact ${id} is missing`)
    return { contradictions, unhashed, receipt, contents }
  }

  /** Compares the records with the events that were taken. */
  const compare = (records: Records): Compared => {
    const run = objectOf(records.run)
    const isCold = run !== undefined && textAt(run, "storage") === "archive"
    const session = objectOf(records.session)
    const compared = ofArtifacts(records.artifacts, isCold)
    const hasEvents = state.timeline.latestIndex > 0
    const hard = [
      ...(run === undefined ? ["the run cannot be read"] : ofRun(run)),
      ...ofSession(session, isCold),
      ...compared.contradictions
    ]
    const folds = [
      ...(isFolded(records.projection, hasEvents ? state : null) ? [] : ["the projection is not that of the events"]),
      ...(isFolded(records.metrics, hasEvents ? metrics : null) ? [] : ["the metrics are not those of the events"])
    ]
    return {
      contradictions: [...hard.map((why) => ({ why, isFold: false })), ...folds.map((why) => ({ why, isFold: true }))],
      unhashed: compared.unhashed,
      receipt: compared.receipt,
      lacking: {
        session: isCold && session === undefined && bound !== undefined,
        contents: compared.contents
      }
    }
  }
  return { take, compare }
}

const DEFAULT_POLICY = "policy.default"
const ENDED: ReadonlySet<string> = new Set<RunStatus>(["completed", "failed", "cancelled"])

const differs = (what: string, recorded: string | undefined, expected: string | undefined): ReadonlyArray<string> =>
  (recorded ?? "") === (expected ?? "") || isErased(recorded, expected)
    ? []
    : [`${what} is ${shown(recorded)}, its events say ${shown(expected)}`]

/** Records have an empty text where the text of their event was erased. */
const isErased = (recorded: string | undefined, expected: string | undefined): boolean =>
  expected === ERASED_TEXT && (recorded ?? "") === ""

const shown = (text: string | undefined): string => (text === undefined ? "absent" : JSON.stringify(text))

const utf8 = new TextDecoder()

const parsed = (bytes: Uint8Array): Schema.Json | undefined =>
  Result.getOrUndefined(Result.try((): Schema.Json => JSON.parse(utf8.decode(bytes))))

const objectOf = (bytes: Uint8Array): Schema.JsonObject | undefined => {
  const value = parsed(bytes)
  return isJsonObject(value) ? value : undefined
}

/** Whether a stored text is that of the fold. Both are the text of the same value, so members may differ in order. */
const isFolded = (bytes: Uint8Array, folded: object | null): boolean => {
  const text = JSON.stringify(folded)
  if (utf8.decode(bytes) === text) return true
  const found = parsed(bytes)
  return found !== undefined && canonicalJson(found) === canonicalJson(JSON.parse(text))
}
