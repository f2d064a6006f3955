import { hash } from "node:crypto"
import {
  issueReceipt,
  type RuntimeSessionState,
  type SendAck,
  type SessionLifecycleType,
  type SessionSnapshot
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { RuntimeClientShape, SessionControl } from "../RuntimeClientShape.ts"
import { RuntimeError } from "../RuntimeError.ts"
import { collectSessions, defaultListingLimits } from "../SessionListing.ts"
import type { FakeMethod, FakeReceiptKey, FakeSession, FakeState } from "./FakeState.ts"

/** The client end of the fake runtime: answers from its state, by the rules that real runtimes follow. */
export const makeFakeClient = (state: FakeState): RuntimeClientShape => {
  const listSessionsPage: RuntimeClientShape["listSessionsPage"] = Effect.fn("RuntimeClient.ListSessions")(function* ({
    pageSize,
    pageToken
  }) {
    yield* state.arrive({ method: "ListSessions", detail: pageToken })
    const all = [...state.sessions.values()]
      .map(({ snapshot }) => snapshot)
      .filter(({ sessionId }) => sessionId > pageToken)
      .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
    const sessions = all.slice(0, pageSize)
    return { sessions, nextPageToken: all.length > pageSize ? (sessions.at(-1)?.sessionId ?? "") : "" }
  })
  const control = (method: FakeMethod, decide: (session: FakeSession) => ControlDecision) =>
    Effect.fn(`RuntimeClient.${method}`)(function* ({ reason, sessionId }: SessionControl) {
      yield* state.arrive({ method, sessionId, detail: reason })
      const session = yield* state.session(sessionId, method)
      const now = yield* Clock.currentTimeMillis
      const decision = decide(session)
      if (decision.transition !== undefined) changeState(state, session, decision.transition, now)
      return ackFor(session, decision.ok, now)
    })

  return {
    address: "fake:0",
    kind: "fake",
    listing: defaultListingLimits,
    initialize: Effect.suspend(() => Effect.as(state.arrive({ method: "Initialize" }), state.registry.identity)),
    getSession: Effect.fn("RuntimeClient.GetSession")(function* (sessionId) {
      yield* state.arrive({ method: "GetSession", sessionId })
      return (yield* state.session(sessionId, "GetSession")).snapshot
    }),
    listSessionsPage,
    listSessions: collectSessions(listSessionsPage, defaultListingLimits),
    streamSession: ({ afterSequence, sessionId }) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const call = { method: "StreamSession", sessionId, afterSequence } as const
          const cut = yield* state.arrive(call)
          const { base, history } = yield* state.session(sessionId, "StreamSession")
          const initial =
            afterSequence < base
              ? [inlineError(sessionId, `session history before ordinal ${base} was compacted`)]
              : history.slice(afterSequence - base).map((envelope) => ({ _tag: "Envelope" as const, envelope }))
          return Stream.fromQueue(yield* state.openStream(state.sessionStreams, call, cut, initial))
        })
      ),
    watchSessions: Stream.unwrap(
      Effect.gen(function* () {
        const cut = yield* state.arrive({ method: "WatchSessions" })
        const initial = [...state.sessions.values()].map(({ snapshot }) => ({
          type: "CREATED" as const,
          session: snapshot,
          observedAtUnixMs: snapshot.startedAtUnixMs
        }))
        return Stream.fromQueue(
          yield* state.openStream(state.lifecycleStreams, { method: "WatchSessions" }, cut, initial)
        )
      })
    ),
    watchSignals: Stream.unwrap(
      Effect.gen(function* () {
        const cut = yield* state.arrive({ method: "WatchSignals" })
        return Stream.fromQueue(yield* state.openStream(state.signalStreams, { method: "WatchSignals" }, cut, []))
      })
    ),
    cancelSession: control("CancelSession", ({ snapshot }) =>
      isLive(snapshot) ? { ok: true, transition: "CANCELLED" } : { ok: true }
    ),
    suspendSession: control("SuspendSession", ({ snapshot }) =>
      snapshot.state === "OPEN" ? { ok: true, transition: "SUSPENDED" } : { ok: false }
    ),
    resumeSession: control("ResumeSession", ({ snapshot }) =>
      snapshot.state === "SUSPENDED" ? { ok: true, transition: "RESUMED" } : { ok: false }
    ),
    registerPolicy: Effect.fn("RuntimeClient.RegisterPolicy")(function* (policy) {
      yield* state.arrive({ method: "RegisterPolicy", detail: policy.policyId })
      if (state.policies.has(policy.policyId)) return { ok: false, error: `policy ${policy.policyId} already exists` }
      state.policies.set(policy.policyId, policy)
      return { ok: true, error: "" }
    }),
    unregisterPolicy: Effect.fn("RuntimeClient.UnregisterPolicy")(function* (policyId) {
      yield* state.arrive({ method: "UnregisterPolicy", detail: policyId })
      return state.policies.delete(policyId)
        ? { ok: true, error: "" }
        : { ok: false, error: `policy ${policyId} not found` }
    }),
    getPolicy: Effect.fn("RuntimeClient.GetPolicy")(function* (policyId) {
      yield* state.arrive({ method: "GetPolicy", detail: policyId })
      const policy = state.policies.get(policyId)
      if (policy !== undefined) return policy
      return yield* new RuntimeError({
        reason: "NOT_FOUND",
        method: "GetPolicy",
        message: `policy ${policyId} not found`
      })
    }),
    listPolicies: Effect.fn("RuntimeClient.ListPolicies")(function* (mode) {
      yield* state.arrive({ method: "ListPolicies", detail: mode })
      return [...state.policies.values()]
        .filter((policy) => mode === "" || policy.mode === mode || policy.mode === "*")
        .sort((a, b) => (a.policyId < b.policyId ? -1 : 1))
    }),
    listModes: Effect.suspend(() => Effect.as(state.arrive({ method: "ListModes" }), state.registry.modes)),
    listRoots: Effect.suspend(() => Effect.as(state.arrive({ method: "ListRoots" }), state.registry.roots)),
    getDecisionReceipt: Effect.fn("RuntimeClient.GetDecisionReceipt")(function* (sessionId) {
      yield* state.arrive({ method: "GetDecisionReceipt", sessionId })
      const session = yield* state.session(sessionId, "GetDecisionReceipt")
      const receipt = state.receipts.get(sessionId) ?? fakeReceipt(session, state.receiptKey)
      if (receipt !== undefined) return receipt
      return yield* new RuntimeError({
        reason: "FAILED_PRECONDITION",
        method: "GetDecisionReceipt",
        message: "ReceiptUnavailable"
      })
    }),
    getReceiptKeys: Effect.suspend(() =>
      Effect.map(state.arrive({ method: "GetReceiptKeys" }), () =>
        JSON.stringify({ keys: state.receiptKey === undefined ? [] : [state.receiptKey.jwk] })
      )
    ),
    getManifest: Effect.fn("RuntimeClient.GetManifest")(function* (agentId) {
      yield* state.arrive({ method: "GetManifest", detail: agentId })
      if (agentId === "" || agentId === state.registry.manifest.agentId) return state.registry.manifest
      return yield* new RuntimeError({
        reason: "NOT_FOUND",
        method: "GetManifest",
        message: `agent ${agentId} not found`
      })
    })
  }
}

/** The receipt of the last Commitment in the history of a resolved session. */
const fakeReceipt = ({ history, snapshot }: FakeSession, key: FakeReceiptKey | undefined): string | undefined => {
  const commitment = history.findLast(({ messageType }) => messageType === "Commitment")
  if (snapshot.state !== "RESOLVED" || commitment === undefined) return undefined
  const { mode, sessionId } = snapshot
  const issued = issueReceipt(
    (...parts) => hash("sha256", Buffer.concat(parts), "buffer"),
    {
      sessionId,
      mode,
      wire: commitment.payload,
      issuer: "runtime:fake",
      issuedAt: "2026-07-01T10:00:00Z",
      semantics: { implementation: "fake", rev: 1 }
    },
    key?.signer
  )
  return Result.getOrUndefined(issued)
}

interface ControlDecision {
  readonly ok: boolean
  readonly transition?: Exclude<SessionLifecycleType, "CREATED">
}

const STATE_AFTER: Readonly<Record<SessionLifecycleType, RuntimeSessionState>> = {
  CREATED: "OPEN",
  RESOLVED: "RESOLVED",
  EXPIRED: "EXPIRED",
  SUSPENDED: "SUSPENDED",
  RESUMED: "OPEN",
  CANCELLED: "CANCELLED"
}

/** Changes the session and notifies the watchers. */
export const changeState = (state: FakeState, session: FakeSession, type: SessionLifecycleType, now: number): void => {
  session.snapshot = { ...session.snapshot, state: STATE_AFTER[type] }
  state.broadcast(state.lifecycleStreams, { type, session: session.snapshot, observedAtUnixMs: now })
}

export const inlineError = (sessionId: string, message: string, code = message) => ({
  _tag: "InlineError" as const,
  error: { code, message, sessionId, messageId: "", details: new Uint8Array() }
})

const isLive = ({ state }: SessionSnapshot): boolean => state === "OPEN" || state === "SUSPENDED"

const ackFor = ({ snapshot }: FakeSession, ok: boolean, now: number): SendAck => ({
  ok,
  duplicate: false,
  messageId: "",
  sessionId: snapshot.sessionId,
  acceptedAtUnixMs: now,
  sessionState: ok ? snapshot.state : "UNSPECIFIED",
  ...(ok
    ? {}
    : {
        error: {
          code: "SESSION_NOT_OPEN",
          message: "SessionNotOpen",
          sessionId: snapshot.sessionId,
          messageId: "",
          details: new Uint8Array()
        }
      })
})
