import {
  type DescribedPolicy,
  RunId,
  type RunStatus,
  type RuntimeSessionState,
  type SessionSnapshot
} from "@runplane/domain"
import { RuntimeError, type RuntimeErrorReason } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { ObservedFrame } from "../../../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../../../src/event-log/append/FrameBytes.ts"
import type { Action, Idleness, SessionQuery, Write } from "../../../../src/observe/decide/Action.ts"
import type { Message, Moment } from "../../../../src/observe/decide/Input.ts"
import type { ObservedRun, PendingCancel } from "../../../../src/observe/decide/ObservedRun.ts"
import { decide, type ObserverState, observing } from "../../../../src/observe/decide.ts"
import { defaultObserverOptions, type ObserverOptions } from "../../../../src/observe/ObserverSettings.ts"

export const SESSION = "the-session"

export const aRun = (run: Partial<ObservedRun> = {}): ObservedRun => ({
  id: RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"),
  status: "queued",
  sessionId: SESSION,
  modeName: "macp.mode.decision.v1",
  runtimeKind: "rust",
  runtimeVersion: undefined,
  traceId: "0af7651916cd43dd8448eb211c80319c",
  cursor: 0,
  expiresAtUnixMs: undefined,
  cancel: undefined,
  awaited: "",
  ...run
})

/** A session with so many counted messages beside its SessionStart; `undefined` is a runtime that does not count. */
export const session = (
  state: RuntimeSessionState,
  messages?: number,
  more: Partial<SessionSnapshot> = {}
): SessionSnapshot => ({
  sessionId: SESSION,
  mode: "macp.mode.decision.v1",
  state,
  startedAtUnixMs: 0,
  expiresAtUnixMs: 600_000,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion: "policy.default",
  participants: ["agent://a"],
  participantActivity:
    messages === undefined ? [] : [{ participantId: "agent://a", lastMessageAtUnixMs: 0, messageCount: messages }],
  initiator: "agent://a",
  contextId: "",
  extensionKeys: [],
  ...more
})

const frameOf = (frame: ObservedFrame["frame"]): ObservedFrame => observed(frame, "2026-07-01T10:00:00.000Z")

/**
 * `m2` is a Vote; `m3=Commitment` has another type; `m4@other` belongs to another session; `m5*9` has a payload of 9
 * bytes; `!CODE` is an inline error.
 */
export const frame = (text: string): ObservedFrame => {
  if (text.startsWith("!")) {
    const error = { code: text.slice(1), message: "", sessionId: SESSION, messageId: "", details: new Uint8Array() }
    return frameOf({ kind: "stream-inline-error", error })
  }
  const [address = "", size = "0"] = text.split("*")
  const [named = "", sessionId = SESSION] = address.split("@")
  const [messageId = "", messageType = "Vote"] = named.split("=")
  const about = { macpVersion: "1.0", mode: "macp.mode.decision.v1", sender: "agent://a", timestampUnixMs: 0 }
  const envelope = { ...about, messageId, messageType, sessionId, payload: new Uint8Array(Number(size)) }
  return frameOf({ kind: "stream-envelope", ambient: false, envelope })
}

export const failure = (reason: RuntimeErrorReason, message: string = reason) =>
  new RuntimeError({ reason, message, method: "GetSession" })

export const state = (snapshot: SessionSnapshot): Message => ({ _tag: "State", state: snapshot.state, snapshot })
export const check: Message = { _tag: "Check" }
export const frames = (subscription: number, ...texts: ReadonlyArray<string>): Message => ({
  _tag: "Frames",
  subscription,
  frames: texts.map(frame)
})
export const ended = (subscription: number, error?: RuntimeError): Message => ({
  _tag: "StreamEnded",
  subscription,
  error
})
export const identity = (...supportedModes: ReadonlyArray<string>): Message => ({
  _tag: "Identity",
  answer: Result.succeed({
    protocolVersion: "1.0",
    name: "a runtime",
    version: "0.6.1",
    supportedModes,
    capabilities: {
      sessions: { stream: true, listSessions: true, watchSessions: true },
      cancellation: { cancelSession: true },
      progress: { progress: true },
      manifest: { getManifest: true },
      modeRegistry: { listModes: true, listChanged: true },
      roots: { listRoots: true, listChanged: true },
      policyRegistry: { registerPolicy: true, listPolicies: true, listChanged: true },
      decisionReceipt: { getDecisionReceipt: false, signed: false },
      experimental: {}
    }
  })
})
export const unreachable = (reason: RuntimeErrorReason, message?: string): Message => ({
  _tag: "Identity",
  answer: Result.fail(failure(reason, message))
})
export const cancelled = (given: RuntimeSessionState | RuntimeError): Message => ({
  _tag: "Cancelled",
  answer:
    given instanceof RuntimeError
      ? Result.fail(given)
      : Result.succeed({
          ok: true,
          duplicate: false,
          messageId: "",
          sessionId: SESSION,
          acceptedAtUnixMs: 0,
          sessionState: given
        })
})
export const answer = (query: SessionQuery, given: SessionSnapshot | RuntimeError): Message => ({
  _tag: "Session",
  query,
  answer: given instanceof RuntimeError ? Result.fail(given) : Result.succeed(given)
})

/**
 * One observation with a log in memory that answers as the real one does. Every step answers, a line each, what was
 * done: questions, subscriptions and appends. Alarms ring when `wait` lets the time pass.
 */
export class Trial {
  #state: ObserverState
  #at = 0
  readonly #chance: number
  /** Whether the last question for the session may wait for others. */
  isBatched = false
  /** What makes the last alarm needless, if anything does. */
  unless: Idleness | undefined
  /** The cursor of the log; a test changes it in position of another observer. */
  status: RunStatus
  revision = 0
  cursor: number
  annotations: ReadonlyArray<string> = []
  readonly #messageIds = new Set<string>()
  committed = false
  /** Why stored messages have no payload, by their ids. */
  readonly withheld = new Map<string, string>()
  /** What the log says to the next append of frames instead of storing them. */
  refusal: Message | undefined
  deleted = false
  /** The policy that the runtime returns; `late`: the test answers. */
  policy: DescribedPolicy | undefined | "late"
  /** Number of the newest subscription. */
  subscriptions = 0
  cancel: PendingCancel | undefined
  /** Whether the watch of all sessions is open. */
  watched = true

  constructor(run: Partial<ObservedRun> = {}, options: Partial<ObserverOptions> = {}, chance = 0) {
    const observed = aRun(run)
    this.#state = observing(observed, { ...defaultObserverOptions, ...options })
    this.status = observed.status
    this.cursor = observed.cursor
    this.cancel = observed.cancel
    this.#chance = chance
  }

  get at(): number {
    return this.#at
  }

  get isOver(): boolean {
    return this.#state.phase._tag === "Over"
  }

  /** The alarm that is set. */
  get wakeAt(): number | undefined {
    return this.#state.wakeAt
  }

  /** Whether an answer of the runtime is waited for. */
  get isQuerying(): boolean {
    const { phase } = this.#state
    if (phase._tag === "Unbound") return phase.pollAt === undefined
    if (phase._tag === "Over") return false
    const { connection } = phase.stream
    return phase.check.query !== undefined || (connection._tag === "Doubting" && connection.until === undefined)
  }

  start(): ReadonlyArray<string> {
    return this.receive({ _tag: "Started" })
  }

  receive(...messages: ReadonlyArray<Message>): ReadonlyArray<string> {
    return messages.flatMap((message) => this.#decide(message))
  }

  /** Lets so many milliseconds pass, and every alarm ring that is set for them. */
  wait(ms: number): ReadonlyArray<string> {
    const until = this.#at + ms
    const lines: Array<string> = []
    while (this.#state.wakeAt !== undefined && this.#state.wakeAt <= until) {
      this.#at = Math.max(this.#at, this.#state.wakeAt)
      lines.push(...this.#decide({ _tag: "Tick" }))
    }
    this.#at = until
    return lines
  }

  /** The process is held up for so long: one late alarm rings. */
  holdUp(ms: number): ReadonlyArray<string> {
    this.#at += ms
    return this.#decide({ _tag: "Tick" })
  }

  #decide(message: Message): ReadonlyArray<string> {
    const moment: Moment = { at: this.#at, chance: this.#chance, watched: this.watched }
    const [next, actions] = decide(this.#state, { ...message, ...moment })
    this.#state = next
    const replies: Array<Message> = []
    const lines = actions.flatMap((action) => this.#perform(action, replies))
    return [...lines, ...replies.flatMap((reply) => this.#decide(reply))]
  }

  #perform(action: Action, replies: Array<Message>): ReadonlyArray<string> {
    switch (action._tag) {
      case "Write":
        if (this.deleted) replies.push({ _tag: "RunDeleted" })
        else {
          if (action.before !== undefined) this.#change(action.before)
          this.#change(action.write)
          replies.push({ _tag: "Written", write: action.write._tag, status: this.status, cursor: this.cursor })
        }
        return [...(action.before === undefined ? [] : [lineOf(action.before)]), lineOf(action.write)]
      case "Store":
        replies.push(this.#store(action.frames, action.cursor))
        return [`store ${action.frames.map(nameOf).join(" ")} after ${action.cursor}`]
      case "ReadCursor":
        replies.push(this.deleted ? { _tag: "RunDeleted" } : { _tag: "Cursor", cursor: this.cursor })
        return []
      case "ReadAnnotations":
        replies.push({ _tag: "Annotations", messageIds: this.annotations, committed: this.committed })
        return ["read annotations"]
      case "ReadSummary": {
        const summary = this.deleted ? undefined : { status: this.status, revision: this.revision, cancel: this.cancel }
        replies.push({ _tag: "Summary", summary })
        return []
      }
      case "GetPolicy":
        if (this.policy === "late") return [`query policy ${action.policyId}`]
        replies.push({ _tag: "Policy", policy: this.policy })
        return []
      case "Initialize":
        return ["query identity"]
      case "GetSession":
        this.isBatched = action.isBatched === true
        return [`query ${action.query}`]
      case "CancelSession":
        return [`cancel session: ${action.reason}`]
      case "Subscribe":
        this.subscriptions = action.subscription
        return [`subscribe ${action.subscription} after ${action.after}`]
      case "Finish":
        return ["finish"]
      case "WakeAt":
        this.unless = action.unless
        return []
      case "Unsubscribe":
      case "EnterStep":
      case "LeaveStep":
      case "Log":
        return []
    }
  }

  #change(write: Write) {
    const to = STATUS_AFTER[write._tag === "End" ? write.state : write._tag]
    if (to === undefined || to === this.status || ENDED.includes(this.status)) return
    if ("revision" in write && write.revision !== undefined && write.revision !== this.revision) return
    this.status = to
    this.revision += 1
  }

  #store(stored: ReadonlyArray<ObservedFrame>, cursor: number): Message {
    const { refusal } = this
    this.refusal = undefined
    if (refusal !== undefined) return refusal
    if (this.deleted) return { _tag: "RunDeleted" }
    if (cursor !== this.cursor) return { _tag: "CursorLost", reason: `${this.cursor}, not ${cursor}` }
    for (const { frame: item, withheld } of stored) {
      if (item.kind !== "stream-envelope" || this.#messageIds.has(item.envelope.messageId)) continue
      this.#messageIds.add(item.envelope.messageId)
      if (withheld !== undefined) this.withheld.set(item.envelope.messageId, withheld)
      this.committed ||= item.envelope.messageType === "Commitment"
      this.cursor += 1
    }
    return { _tag: "Stored", frames: stored, cursor: this.cursor }
  }
}

const ENDED: ReadonlyArray<RunStatus> = ["completed", "failed", "cancelled"]

const STATUS_AFTER: Readonly<Record<string, RunStatus | undefined>> = {
  Start: "starting",
  Bind: "binding_session",
  Run: "running",
  Suspend: "suspended",
  Resume: "running",
  Fail: "failed",
  RESOLVED: "completed",
  EXPIRED: "failed",
  CANCELLED: "cancelled"
}

const nameOf = ({ frame: item }: ObservedFrame): string =>
  item.kind === "stream-envelope" ? item.envelope.messageId : "error"

const lineOf = (write: Write): string => {
  switch (write._tag) {
    case "Fail":
      return `fail ${write.errorCode}: ${write.errorMessage}`
    case "End":
      return `end ${write.state}`
    case "Reconnecting":
      return `reconnecting: ${write.detail}`
    case "CancelSettled":
      return write.stopped ? "session stopped" : "cancel forgotten"
    case "Gap":
      return `gap after ${write.requestedAfter}: ${write.detail}`
    default:
      return write._tag.toLowerCase()
  }
}

/** A run that follows its open session; subscription 1 is open. */
export const following = (
  run: Partial<ObservedRun> = {},
  options: Partial<ObserverOptions> = {},
  chance = 0
): Trial => {
  const trial = new Trial({ status: "running", ...run }, options, chance)
  trial.start()
  trial.receive(answer("ended", session("OPEN", 0)))
  return trial
}
