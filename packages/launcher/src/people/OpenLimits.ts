import * as PgClient from "@effect/sql-pg/PgClient"
import type { ItemChange } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { NewSeat } from "./SeatRows.ts"

/** How many items may be open at a time (docs/reference/people.md#limits). */
export const ItemLimits = Context.Reference<{ readonly service: number; readonly name: number }>(
  "runplane/launcher/ItemLimits",
  { defaultValue: () => ({ service: 10_000, name: 1_000 }) }
)

/** Openings take turns, so that two of them do not share the last free position. */
const OPENING_LOCK = 7_266_432

/** Bounds the open items, of the service and of each person and group that `assign` names. */
export class OpenLimits extends Context.Service<OpenLimits, Effect.Success<typeof make>>()(
  "runplane/launcher/OpenLimits"
) {
  static readonly layer = Layer.effect(
    OpenLimits,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const limits = yield* ItemLimits
  /** The seats whose items wait, each with the reason. */
  const held = new Map<string, string>()

  const open = sql<{ readonly open: number }>`
    SELECT count(*)::int4 AS open FROM people.items WHERE state = 'open'`.pipe(Effect.map(([row]) => row?.open ?? 0))

  const openOf = (names: ReadonlyArray<string>) =>
    sql<{ readonly name: string; readonly open: number }>`
      SELECT n.name, count(i.id)::int4 AS open
      FROM jsonb_array_elements_text(${JSON.stringify(names)}::text::jsonb) AS n(name)
      LEFT JOIN (people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat)
        ON i.state = 'open' AND s.rules->'assign' ? n.name
      GROUP BY n.name ORDER BY n.name`

  /** Why these seats cannot have an open item each; undefined when they can. */
  const shortage = Effect.fnUntraced(function* (seats: ReadonlyArray<Pick<NewSeat, "rules">>) {
    const all = yield* open
    if (all + seats.length > limits.service) return `${all} items are open, of at most ${limits.service}`
    const wanted = seats.flatMap(({ rules }) => [...new Set(rules.assign)])
    for (const { name, open: own } of yield* openOf([...new Set(wanted)])) {
      if (own + wanted.filter((one) => one === name).length > limits.name) {
        return `${name} has ${own} open items, of at most ${limits.name}`
      }
    }
    return undefined
  })

  return {
    shortage,

    /** For a transaction: the changes of a seat, without the openings when there are too many open items. */
    admit: Effect.fnUntraced(function* (seat: NewSeat, planned: ReadonlyArray<ItemChange>) {
      const opening = planned.filter(({ _tag }) => _tag === "open")
      if (opening.length === 0) return { changes: planned, refusal: undefined }
      yield* sql`SELECT pg_advisory_xact_lock(${OPENING_LOCK})`
      const refusal = yield* shortage(opening.map(() => seat))
      return { changes: refusal === undefined ? planned : planned.filter(({ _tag }) => _tag !== "open"), refusal }
    }),

    /** Items of a seat wait for the reason, or none does any more. */
    hold: Effect.fnUntraced(function* ({ seat, sessionId }: NewSeat, reason: string | undefined) {
      const key = JSON.stringify([sessionId, seat])
      if (reason === undefined) {
        held.delete(key)
        return
      }
      if (!held.has(key)) yield* Effect.logWarning(`an item of ${seat} in ${sessionId} waits, since ${reason}`)
      held.set(key, reason)
    }),

    /** How many seats have an item that waits, and the reason of one of them. */
    held: () => ({ waiting: held.size, reason: held.values().next().value })
  }
})
