import {
  type AnswerContent,
  type Basis,
  basisOf,
  deadlineAct,
  type TurnFailure,
  turnFailureText
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { A2A } from "../../common/Frameworks.ts"
import { type ItemRow, ItemRows } from "../ItemRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { TurnRows } from "./TurnRows.ts"

/** An abstention after a failed turn is not an act of the agent. */
export const BY_FAILURE = {
  origin: "failure",
  person: undefined,
  proof: "none",
  channel: A2A,
  couldHaveSeen: false
} as const

type Locked = (session: SeatSession, work: Effect.Effect<void, SqlError>) => Effect.Effect<void, SqlError>

/** Stores an answer of an item. The caller has the lock. */
type Store = (
  session: SeatSession,
  answer: {
    readonly content: AnswerContent
    readonly basis: Basis
    readonly item: ItemRow
    readonly by: typeof BY_FAILURE
  }
) => Effect.Effect<void, SqlError>

/** Failures of turns, as the rows of their items have them. */
export const makeTurnFailures = Effect.fnUntraced(function* (locked: Locked, store: Store) {
  const items = yield* ItemRows
  const turns = yield* TurnRows
  return {
    /** The deadline of a turn has passed; of a question to a person nothing more is noted. The caller has the lock. */
    noteLate: ({ row, rules, view }: SeatSession, item: string, reason: string) =>
      row.agent === undefined
        ? Effect.void
        : turns.fail(item, basisOf(view, row.seat, rules.reveal), "late", turnFailureText("late", reason)),

    /** A turn has failed, and leaves what its rules say. Nothing, when its item is not open any more. */
    failTurn: (session: SeatSession, id: string, why: TurnFailure, detail: string) => {
      const { row, rules, view } = session
      const reason = turnFailureText(why, detail)
      const fail = Effect.gen(function* () {
        const item = yield* items.byId(id)
        if (item?.state !== "open") return
        const basis = basisOf(view, row.seat, rules.reveal)
        yield* turns.fail(id, basis, why, reason)
        const act = deadlineAct(view.mode, rules.onDeadline)
        if (act === undefined) return yield* items.close({ _tag: "close", id, state: "expired", reason })
        return yield* store(session, { content: { act, reason }, basis, item, by: BY_FAILURE })
      })
      return locked(session, fail)
    }
  }
})
