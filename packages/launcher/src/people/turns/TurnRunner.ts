import { backoffMs, basisOf, isFinal, type RemoteAgent, turnStep } from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { RemoteAgents } from "../../remote/RemoteAgents.ts"
import type { RemoteFailure } from "../../remote/RemoteHttp.ts"
import { type ItemRow, ItemRows } from "../ItemRows.ts"
import type { SeatRow } from "../SeatRows.ts"
import { type AgentSeat, makeTurnActs, PAUSES } from "./TurnActs.ts"
import { makeTurnCalls, type Turn, turnContentOf } from "./TurnCalls.ts"
import { type TurnRow, TurnRows } from "./TurnRows.ts"
import { TurnWakes } from "./TurnWakes.ts"

/** How long a cancellation may hold the end of a seat up. Milliseconds. */
const CANCEL_MS = 10_000

/**
 * Runs the turns of agents that speak A2A: one fiber for each open item, from its row. An answer goes into the session
 * as that of a person does, by the row of its item; a turn that fails leaves what its rules say.
 */
export class TurnRunner extends Context.Service<
  TurnRunner,
  {
    /** Starts the turns of open items, and ends those of others. */
    readonly follow: (seat: AgentSeat) => Effect.Effect<void, SqlError>
    /** The session is over: tasks that go on are cancelled. */
    readonly end: (row: SeatRow) => Effect.Effect<void, SqlError>
  }
>()("runplane/launcher/TurnRunner") {
  static readonly layer = Layer.effect(
    TurnRunner,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, TurnWakes.layer]))
}

/** What of a reply is settled. */
type Settled = "done" | "goes-on"
const DONE: Settled = "done"
const GOES_ON: Settled = "goes-on"

/** A notice of the agent ends the pause. */
const pause = (wakes: TurnWakes["Service"], item: string, tries: number) =>
  Effect.raceFirst(Effect.sleep(backoffMs(PAUSES, tries)), wakes.next(item))

const keyOf = ({ seat, sessionId }: SeatRow) => JSON.stringify([sessionId, seat])

const make = Effect.gen(function* () {
  const agents = yield* RemoteAgents
  const exchange = yield* makeTurnCalls
  const items = yield* ItemRows
  const turns = yield* TurnRows
  const wakes = yield* TurnWakes
  const fibers = yield* FiberMap.make<string>()
  /** The items whose turns run, by seat. */
  const running = new Map<string, Set<string>>()
  const { act, failTurn, readSession } = yield* makeTurnActs

  /** One step of a turn. */
  const advance = Effect.fnUntraced(function* (seat: AgentSeat, turn: Turn, row: TurnRow) {
    const reply = yield* exchange.exchange(turn, row)
    const { allowedActs, proposalHash } = turn.content
    const step = turnStep(reply, { phase: row.phase, allowedActs, proposalHash })
    const { item } = row
    if (reply.message !== undefined || isFinal(reply.task?.status?.state)) yield* turns.release(item)
    switch (step._tag) {
      case "answer":
        yield* act(seat, item, row, step.content)
        return DONE
      case "failed":
        yield* failTurn(seat, item, step.why, step.detail)
        return DONE
      case "follow-up":
        yield* turns.enter(item, step.phase)
        return GOES_ON
      case "wait":
        if (reply.task !== undefined) yield* exchange.watch(turn, yield* turns.find(item))
        return GOES_ON
    }
  })

  /** Repeats a step until it is settled; an agent that is away is tried again, until the deadline ends the turn. */
  const persist = Effect.fnUntraced(function* (
    seat: AgentSeat,
    item: string,
    step: Effect.Effect<Settled, RemoteFailure | SqlError>
  ) {
    for (let tries = 0; ; tries += 1) {
      const done = yield* Effect.result(step)
      if (Result.isSuccess(done) && done.success === "done") return
      if (Result.isFailure(done)) {
        const { failure } = done
        if (failure._tag !== "RemoteFailure") return yield* failure
        const { kind, reason } = failure
        if (kind !== "away") {
          const why = kind === "too-large" ? "too-large" : kind === "not-found" ? "failed" : "refused"
          return yield* failTurn(seat, item, why, reason)
        }
        yield* Effect.logInfo(`the agent of ${seat.row.seat} in ${seat.row.sessionId} is away: ${reason}`)
      }
      yield* pause(wakes, item, tries)
    }
  })

  const turnOf = Effect.fnUntraced(function* (seat: AgentSeat, agent: RemoteAgent, item: ItemRow) {
    const { seat: participant, sessionId } = seat.row
    const session = yield* readSession(seat)
    yield* turns.begin(item.id, basisOf(session.view, participant, session.rules.reveal))
    const { sampled, spanId, traceId } = yield* Effect.currentSpan
    const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`
    const turn = { agent, sessionId, participant, content: turnContentOf(session, item), traceparent }
    const checked = Effect.gen(function* () {
      if ((yield* agents.hashNow(agent)) !== agent.cardSha256) {
        yield* failTurn(seat, item.id, "card-changed", "the agent card is not the one of the launch")
      }
      return DONE
    })
    yield* persist(seat, item.id, checked)
    const step = Effect.gen(function* () {
      if ((yield* items.byId(item.id))?.state !== "open") return DONE
      return yield* advance(seat, turn, yield* turns.find(item.id))
    })
    yield* persist(seat, item.id, step)
  })

  /** Cancels the tasks of turns that are over. */
  const release = Effect.fnUntraced(function* ({ agent, seat: participant, sessionId }: SeatRow) {
    if (agent === undefined) return
    for (const turn of yield* turns.unreleased(sessionId, participant)) {
      yield* exchange.cancel({ agent, sessionId, participant }, turn).pipe(
        Effect.timeout(CANCEL_MS),
        // The row is released all the same: a cancellation is a courtesy to the agent.
        Effect.catch(({ message }) => Effect.logInfo(`the task of turn ${turn.item} is not cancelled: ${message}`))
      )
      yield* turns.release(turn.item)
    }
  })

  return TurnRunner.of({
    follow: Effect.fnUntraced(function* (seat) {
      const { row } = seat
      const { agent } = row
      if (agent === undefined) return
      const own = running.get(keyOf(row)) ?? new Set<string>()
      running.set(keyOf(row), own)
      const open = (yield* items.ofSeat(row.sessionId, row.seat)).filter(({ state }) => state === "open")
      const isOpen = new Set(open.map(({ id }) => id))
      for (const id of [...own].filter((one) => !isOpen.has(one))) yield* FiberMap.remove(fibers, id)
      for (const item of open) {
        if (own.has(item.id)) continue
        own.add(item.id)
        const run = turnOf(seat, agent, item).pipe(
          Effect.withSpan("a2a.turn", { root: true, attributes: { session: row.sessionId, participant: row.seat } }),
          // The item is open all the same: the next look at the rows starts the turn again.
          Effect.catchCause((cause) => Effect.logError(`the turn ${item.id} of ${row.seat} has stopped`, cause)),
          Effect.ensuring(Effect.sync(() => own.delete(item.id)))
        )
        yield* FiberMap.run(fibers, item.id, run)
      }
      yield* release(row)
    }),

    end: Effect.fnUntraced(function* (row) {
      for (const id of running.get(keyOf(row)) ?? []) yield* FiberMap.remove(fibers, id)
      running.delete(keyOf(row))
      yield* release(row)
    })
  })
})
