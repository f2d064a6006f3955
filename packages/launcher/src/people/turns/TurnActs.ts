import { backoffMs, type TurnFailure, type turnStep } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { A2A } from "../../common/Frameworks.ts"
import { ItemRows } from "../ItemRows.ts"
import type { SeatRow } from "../SeatRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { SeatWork } from "../SeatWork.ts"
import { verdictOn } from "./CheckedAnswer.ts"
import type { TurnRow } from "./TurnRows.ts"

/** Pauses between two looks at a task, and after a failure of the agent. Milliseconds. */
export const PAUSES = { firstMs: 250, longestMs: 10_000 }

/** A seat of an agent, as its follower has it. */
export interface AgentSeat {
  readonly row: SeatRow
  readonly session: SeatSession | undefined
  readonly reached: number
  readonly wakes: Queue.Queue<void>
}

type AnswerStep = Extract<ReturnType<typeof turnStep>, { readonly _tag: "answer" }>

const BY_AGENT = {
  origin: "agent",
  person: undefined,
  proof: "none",
  channel: A2A,
  couldHaveSeen: false
} as const

/** What a turn leads to: an act in the session, or a failure. */
export const makeTurnActs = Effect.gen(function* () {
  const items = yield* ItemRows
  const work = yield* SeatWork

  const failTurn = Effect.fnUntraced(function* (seat: AgentSeat, item: string, why: TurnFailure, detail: string) {
    const session = yield* readSession(seat)
    yield* Effect.logWarning(
      `the turn ${item} of ${seat.row.seat} in ${seat.row.sessionId} has failed: ${why}: ${detail}`
    )
    yield* work.failTurn(session, item, why, detail)
    yield* Queue.offer(seat.wakes, undefined)
  })

  /** The session, once it is read as far as it was before. */
  const readSession = Effect.fnUntraced(function* (seat: AgentSeat) {
    for (let tries = 0; ; tries += 1) {
      const { session } = seat
      if (session !== undefined && session.view.messages.length >= seat.reached) return session
      yield* Effect.sleep(backoffMs(PAUSES, tries))
    }
  })

  /** Stores the act of an agent, if it still counts. */
  const act = Effect.fnUntraced(function* (seat: AgentSeat, id: string, row: TurnRow, content: AnswerStep["content"]) {
    const session = yield* readSession(seat)
    const store = Effect.gen(function* () {
      const item = yield* items.byId(id)
      if (item === undefined) return undefined
      const { rules, view } = session
      const verdict = verdictOn(
        item,
        { seat: seat.row.seat, mode: view.mode, rules, session, basisOrdinal: row.basis.ordinal },
        { person: "", content, proposalHash: item.proposalHash },
        yield* items.now
      )
      if (verdict._tag === "store") yield* work.store(session, { content, basis: row.basis, item, by: BY_AGENT })
      return verdict
    })
    const verdict = yield* work.locked(session, store)
    if (verdict?._tag === "invalid") {
      const why = verdict.field === "act" ? "forbidden-act" : "unreadable"
      return yield* failTurn(seat, id, why, `${verdict.field} ${verdict.message}`)
    }
    yield* Queue.offer(seat.wakes, undefined)
  })

  return { act, failTurn, readSession }
})
