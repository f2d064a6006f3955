import * as PgClient from "@effect/sql-pg/PgClient"
import { isClosed, type Person } from "@runplane/domain"
import { forever } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import { DelegationRows } from "../escalate/DelegationRows.ts"
import { type InboxRow, InboxRows, isAfter } from "../InboxRows.ts"
import { isAhead } from "./ChangeCursor.ts"

/** Changed items of one read; more are a reset. */
export const MOST_CHANGES = 100
/** Open streams of a person, and of the service. */
export const STREAMS_A_PERSON = 20
export const MOST_STREAMS = 1_000
/** How often the rows are read for changes while a stream is open. Milliseconds. */
const TICK_MS = 300
/** Streams that read at the same time: the connections are for answers too. */
const READERS = 3

export interface ItemChanged {
  readonly change: "opened" | "changed" | "closed"
  readonly row: InboxRow
}

/** The changes after a cursor. */
export type Changes =
  | { readonly _tag: "Items"; readonly cursor: string; readonly items: ReadonlyArray<ItemChanged> }
  /** Too much has changed, or the database has lost the cursor: the list is to be read again. */
  | { readonly _tag: "Reset"; readonly cursor: string }

/** Why no stream is opened. */
export type StreamRefused = { readonly _tag: "too-many-of-person" } | { readonly _tag: "too-many" }

/**
 * The changes of items, for streams. The rows are the only source: each item has the transaction that changed it last,
 * so a reader that was away, or is slow, gets the last state of each item once, and no queue grows.
 */
export class InboxChanges extends Context.Service<InboxChanges, Effect.Success<typeof make>>()(
  "runplane/launcher/InboxChanges"
) {
  static readonly layer = Layer.effect(
    InboxChanges,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(InboxRows.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* InboxRows
  const delegations = yield* DelegationRows
  const watchers = new Map<Queue.Queue<void>, string>()
  const begun = yield* Queue.sliding<void>(1)
  const readers = yield* Semaphore.make(READERS)
  let seen: string | undefined

  // A restored database counts its transactions anew: rows of later ones would never be behind a snapshot.
  for (const table of ["people.items", "people.seats"]) {
    yield* sql`
      UPDATE ${sql.literal(table)} SET changed_tx = pg_current_xact_id() WHERE changed_tx > pg_current_xact_id()`
  }

  const snapshot = sql<{ readonly now: string }>`SELECT pg_current_snapshot()::text AS now`.pipe(
    Effect.map(([row]) => row?.now ?? "")
  )
  /** As a column: whether an item or a seat has changed since a cursor. */
  const hasChanged = (cursor: string | undefined) =>
    cursor === undefined
      ? sql`true`
      : sql`(EXISTS (SELECT FROM people.items i WHERE ${isAfter(sql, "i.changed_tx", cursor)})
          OR EXISTS (SELECT FROM people.seats s WHERE ${isAfter(sql, "s.changed_tx", cursor)}))`

  /** One look at the rows. It wakes all streams: each of them reads what its person may see. */
  const round = Effect.gen(function* () {
    if (watchers.size === 0) {
      seen = undefined
      return { pauseMs: Number.POSITIVE_INFINITY }
    }
    const [row] = yield* sql<{ readonly now: string; readonly changed: boolean }>`
      SELECT pg_current_snapshot()::text AS now, ${hasChanged(seen)} AS changed`
    if (row === undefined) return { pauseMs: TICK_MS }
    if (seen === undefined || row.changed) for (const queue of watchers.keys()) Queue.offerUnsafe(queue, undefined)
    seen = row.now
    return { pauseMs: TICK_MS }
  })
  yield* Effect.forkScoped(forever("inbox-changes", round, { wake: Queue.take(begun) }))

  const refusalOf = (person: string): StreamRefused | undefined => {
    if (watchers.size >= MOST_STREAMS) return { _tag: "too-many" }
    const own = [...watchers.values()].filter((one) => one === person).length
    return own >= STREAMS_A_PERSON ? { _tag: "too-many-of-person" } : undefined
  }

  return {
    /** What wakes a stream, until its scope ends. The first wake is at once. */
    watch: Effect.fnUntraced(function* (person: string) {
      const refusal = refusalOf(person)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      return yield* Effect.acquireRelease(
        Effect.gen(function* () {
          const wakes = yield* Queue.sliding<void>(1)
          watchers.set(wakes, person)
          yield* Queue.offer(wakes, undefined)
          yield* Queue.offer(begun, undefined)
          return wakes
        }),
        (wakes) =>
          Effect.sync(() => {
            watchers.delete(wakes)
          })
      )
    }),

    /** The cursor of a reader that has read nothing yet. */
    now: snapshot,

    /** The items of a person that have changed since a cursor. */
    since: (person: Person, cursor: string) =>
      readers.withPermits(1)(
        Effect.gen(function* (): Effect.fn.Return<Changes, Effect.Error<typeof snapshot>> {
          // Read before the rows: what changes between is read again with the next cursor, and nothing is lost.
          const now = yield* snapshot
          if (isAhead(cursor, now)) return { _tag: "Reset", cursor: now }
          const changed = yield* rows.changedSince(
            { person, delegations: yield* delegations.receivedBy(person.id) },
            cursor,
            MOST_CHANGES + 1
          )
          if (changed.length > MOST_CHANGES) return { _tag: "Reset", cursor: now }
          return {
            _tag: "Items",
            cursor: now,
            items: changed.map(({ isOpened, row }) => ({
              change: isClosed(row.state) ? "closed" : isOpened && row.state === "open" ? "opened" : "changed",
              row
            }))
          }
        })
      )
  }
})
