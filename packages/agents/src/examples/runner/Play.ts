import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AgentClient } from "../../client/AgentClient.ts"
import type { AgentFailure } from "../../client/AgentFailure.ts"
import { Bootstrap } from "../../client/Bootstrap.ts"
import { type Brief, briefOf, type Opening } from "./Brief.ts"
import { pause } from "./Pace.ts"
import { readSession, type SessionOver, type SessionReader } from "./SessionReader.ts"
import type { Action, Outcome, Strategy, WorkSpan } from "./Strategy.ts"

/** An agent cannot fulfil its brief: for example, it leads a session and does not know the start. */
export class AgentUnable extends Data.TaggedError("AgentUnable")<{ readonly message: string }> {}

/**
 * Takes part in the session of the bootstrap file as a strategy says, until its part is over or the session is. A
 * session that ends while the agent waits or speaks ends the agent without a failure: it could not have done better.
 */
export const play = (strategy: Strategy): Effect.Effect<void, AgentFailure | AgentUnable, AgentClient | Bootstrap> =>
  takePart(strategy).pipe(
    Effect.catchTag("SessionOver", () => Effect.void),
    Effect.catchIf(isClosedSession, () => Effect.void),
    Effect.scoped,
    Effect.withSpan("Play")
  )

const takePart = Effect.fnUntraced(function* (
  strategy: Strategy
): Effect.fn.Return<void, AgentFailure | AgentUnable | SessionOver, AgentClient | Bootstrap | Scope.Scope> {
  const brief = yield* Effect.fromResult(briefOf(yield* Bootstrap)).pipe(
    Effect.mapError((message) => new AgentUnable({ message }))
  )
  const reader = yield* readSession
  let overdue = false
  let lastTurnAt = yield* Clock.currentTimeMillis
  while (true) {
    const session = yield* reader.current
    const step = strategy({ brief, session, overdue })
    switch (step._tag) {
      case "Done":
        return
      case "Unable":
        return yield* new AgentUnable({ message: step.reason })
      case "Act": {
        if (yield* performAll(step.actions, brief, reader)) return
        overdue = false
        lastTurnAt = yield* Clock.currentTimeMillis
        break
      }
      case "Wait": {
        const change = reader.until((next) => next !== session)
        if (step.atMostMs === undefined || overdue) {
          yield* change
          break
        }
        const leftMs = Math.max(lastTurnAt + step.atMostMs - (yield* Clock.currentTimeMillis), 0)
        overdue = (yield* Effect.timeoutOption(change, leftMs))._tag === "None"
      }
    }
  }
})

/** True when the session is over by what was done. */
const performAll = Effect.fnUntraced(function* (
  actions: ReadonlyArray<Action>,
  brief: Brief,
  reader: SessionReader
): Effect.fn.Return<boolean, AgentFailure | AgentUnable | SessionOver, AgentClient> {
  let lastSaid: string | undefined
  let isEnded = false
  for (const action of actions) {
    const said = yield* perform(action, brief)
    if (said !== undefined) lastSaid = said
    if (action._tag === "Commit" || action._tag === "Cancel") isEnded = true
  }
  if (isEnded) return true
  if (lastSaid === undefined) return yield* Effect.die("a turn said nothing in the session, so it would never end")
  // The next turn is decided by what the session shows, which must include this one.
  const id = lastSaid
  yield* reader.until((session) => session.some(({ messageId }) => messageId === id))
  return false
})

const reported = <A, E>(signal: Effect.Effect<A, E>, span: WorkSpan | undefined) =>
  span === undefined ? signal : Effect.withSpan(signal, span.name, { kind: "client", attributes: span.attributes })

/** Gives the id of the message when it was one of the session. */
const perform = Effect.fnUntraced(function* (
  action: Action,
  brief: Brief
): Effect.fn.Return<string | undefined, AgentFailure | AgentUnable, AgentClient> {
  const client = yield* AgentClient
  switch (action._tag) {
    case "Open":
      return (yield* client.start((yield* openingOf(brief)).start)).messageId
    case "Say":
      return (yield* client.send(action.messageType, action.payload)).messageId
    case "Progress":
      yield* client.progress(action.done, action.message)
      return undefined
    case "Signal":
      yield* reported(client.signal(action.signalType, action.data), action.span)
      return undefined
    case "Think":
      yield* pause(`${brief.seed}:${brief.self}:${action.about}`)
      return undefined
    case "Commit":
      yield* conclude(client, brief, action.outcome)
      return undefined
    case "Cancel":
      yield* client.cancelSession(action.reason)
      return undefined
  }
})

const openingOf = ({ opening }: Brief): Effect.Effect<Opening, AgentUnable> =>
  opening === undefined
    ? Effect.fail(new AgentUnable({ message: "the bootstrap file does not say how the session starts" }))
    : Effect.succeed(opening)

/**
 * Commits. When the policy refuses the Commitment, the session is cancelled, so that no agent waits for its expiry.
 */
const conclude = (client: AgentClient["Service"], { versions }: Brief, outcome: Outcome) =>
  client
    .commit({
      commitmentId: outcome.commitmentId,
      action: outcome.action,
      authorityScope: outcome.scope,
      reason: outcome.reason,
      modeVersion: versions.mode,
      configurationVersion: versions.configuration,
      policyVersion: versions.policy,
      outcomePositive: outcome.positive
    })
    .pipe(
      Effect.catchIf(
        (failure) => failure._tag === "MessageRefused" && failure.code === "POLICY_DENIED",
        (denied) => client.cancelSession(`${outcome.reason}; ${denied.message}`)
      )
    )

const isClosedSession = (failure: AgentFailure | AgentUnable): boolean =>
  failure._tag === "MessageRefused" && failure.code === "SESSION_NOT_OPEN"
