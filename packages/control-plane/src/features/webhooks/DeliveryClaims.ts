import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeliveryLane, DeliverySlot, FreeSlots } from "./DeliverySlots.ts"

/** A delivery that this process may attempt, and what the attempt needs. */
export interface ClaimedDelivery {
  readonly id: string
  readonly webhookId: string
  readonly url: string
  readonly secret: string
  readonly event: string
  /** The stored text, which is signed and sent unchanged. */
  readonly body: string
  /** The number of this attempt among all. It fences: a claim that ran out has a smaller number than the row. */
  readonly attempts: number
  /** The number of this attempt since the delivery was queued. */
  readonly tries: number
  /** Time since the delivery was queued. Milliseconds. */
  readonly ageMs: number
  /** Which slot of the process it uses. */
  readonly slot: DeliverySlot
}

export interface ClaimLimits {
  readonly free: Readonly<Record<DeliveryLane, FreeSlots>>
  /** Attempts of a subscription that may be under way in all processes; of one that is slowed, one. */
  readonly perSubscription: number
  /** A claim that is not ended runs out after this time. Milliseconds. */
  readonly leaseMs: number
}

export interface Claims {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Time until the next delivery is due that is not due yet. Milliseconds. */
  readonly nextDueMs: number | undefined
  /** There may be more to claim at once. */
  readonly more: boolean
}

/** Due deliveries of a subscription that a claim reads. */
export const READ_PER_CLAIM = 32
/** Subscriptions that one poll returns; the next returns more. */
const NAMED = 1_000

const NOTHING: Claims = { deliveries: [], nextDueMs: undefined, more: false }

/**
 * Claims deliveries (docs/reference/webhooks.md#webhook-delivery). The first pending delivery of a lane, which is a run
 * or a firing without a run, is the only one of it that can be claimed. The due deliveries behind it are delayed until
 * that one can change, so a subscription with any number of waiting deliveries costs a claim no more than
 * `READ_PER_CLAIM` of them.
 *
 * The subscription is locked before anything is read of it, and again at the end of each delivery: claims and ends of a
 * subscription follow each other, whatever process makes them, and each sees what the one before has done. While a
 * subscription is held, none of its deliveries is claimed.
 */
export const makeDeliveryClaims = Effect.map(PgClient.PgClient, (sql) => {
  // Each of these reads ends after a few rows of an index; the planner uses the index because of the order.
  const isFree = sql`d.status = 'pending' AND d.next_attempt_at <= now() AND coalesce(d.claimed_until <= now(), true)`

  const isAlert = sql`d.event LIKE 'alert.%'`
  const isOf = { alerts: isAlert, others: sql`NOT (${isAlert})` }

  const isHeld = sql`coalesce(w.held_until > now(), false)`

  const underWay = sql`(
    SELECT count(*) FROM webhook_deliveries d
    WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.claimed_until > now())`

  const isSlowed = sql`w.slowed_at IS NOT NULL`

  /** Whether a due delivery exists. The index `webhook_deliveries_alerts` has the alerts. */
  const isDue = (lane: DeliveryLane) => sql`
    (SELECT true FROM webhook_deliveries d WHERE d.webhook_id = w.id AND ${isFree} AND ${isOf[lane]}
     ORDER BY d.next_attempt_at, d.ordinal LIMIT 1)`

  /** Subscriptions with a due delivery and a free slot, those without an attempt first; and when more is due. */
  const findDue = ({ free, perSubscription }: ClaimLimits) => {
    const most = (lane: DeliveryLane) => (free[lane].extra > 0 ? perSubscription : 1)
    const named = (lane: DeliveryLane) => {
      const lanes = sql.literal(lane)
      return sql`
        ARRAY(SELECT id::text FROM candidates WHERE ${lanes} AND NOT is_held AND NOT is_slowed
              AND under_way < ${most(lane)}::int ORDER BY under_way, served_at NULLS FIRST, id LIMIT ${NAMED}) AS ${lanes},
        ARRAY(SELECT id::text FROM candidates WHERE ${lanes} AND NOT is_held AND is_slowed AND under_way = 0
              ORDER BY served_at NULLS FIRST, id LIMIT ${NAMED}) AS ${sql.literal(`slowed_${lane}`)}`
    }
    return sql<DueRow>`
      WITH candidates AS MATERIALIZED (
        SELECT w.id, w.served_at, w.held_until, ${isHeld} AS is_held, ${isSlowed} AS is_slowed,
               ${isDue("alerts")} AS alerts, ${isDue("others")} AS others, ${underWay} AS under_way,
               (SELECT d.next_attempt_at FROM webhook_deliveries d
                WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at > now()
                ORDER BY d.next_attempt_at, d.ordinal LIMIT 1) AS next_at
        FROM webhooks w WHERE w.active
      )
      SELECT ${named("alerts")}, ${named("others")},
             (SELECT extract(epoch FROM min(CASE WHEN is_held THEN held_until ELSE next_at END) - now()) * 1000
              FROM candidates)::float8 AS next_due_ms`
  }

  // Another process works on a locked one; the end of that work triggers the next read.
  const lock = (ids: ReadonlyArray<string>, limit: number) => sql<{ readonly id: string }>`
    SELECT w.id::text AS id FROM unnest(${ids}::text[]::uuid[]) WITH ORDINALITY AS named (id, position)
    JOIN webhooks w USING (id) WHERE w.active AND NOT ${isHeld}
    ORDER BY named.position LIMIT ${limit} FOR NO KEY UPDATE OF w SKIP LOCKED`

  /** Each subscription gets its first attempt before any gets its second. */
  const take = (
    ids: ReadonlyArray<string>,
    { extra, isSlow, lane, leaseMs, limit, perSubscription }: Group
  ) => sql<ClaimedRow>`
    WITH receivers AS MATERIALIZED (
      SELECT w.id, w.url, w.secret, w.served_at, ${underWay} AS under_way
      FROM webhooks w WHERE w.id = ANY(${ids}::text[]::uuid[]) AND ${isSlowed} = ${isSlow}::boolean
    ), candidates AS MATERIALIZED (
      SELECT receivers.id AS webhook_id, due.id, due.next_attempt_at, due.ordinal, head.id AS head_id,
             greatest(head.next_attempt_at, head.claimed_until) AS head_at
      FROM receivers CROSS JOIN LATERAL (
        SELECT d.id, d.lane, d.next_attempt_at, d.ordinal FROM webhook_deliveries d
        WHERE d.webhook_id = receivers.id AND ${isFree} AND ${isOf[lane]}
        ORDER BY d.next_attempt_at, d.ordinal LIMIT ${READ_PER_CLAIM}
      ) due CROSS JOIN LATERAL (
        SELECT h.id, h.next_attempt_at, h.claimed_until FROM webhook_deliveries h
        WHERE h.webhook_id = receivers.id AND h.lane = due.lane AND h.status = 'pending'
        ORDER BY h.ordinal LIMIT 1
      ) head
    ), heads AS (
      SELECT webhook_id, head_id, row_number() OVER (
               PARTITION BY webhook_id ORDER BY min(next_attempt_at), min(ordinal)) AS position
      FROM candidates WHERE head_at <= now() GROUP BY webhook_id, head_id
    ), ranked AS (
      SELECT heads.head_id AS id, r.under_way + heads.position AS rank, r.served_at, r.id AS webhook_id,
             row_number() OVER (PARTITION BY r.under_way + heads.position > 1
                                ORDER BY r.under_way + heads.position, r.served_at NULLS FIRST, r.id) AS number
      FROM heads JOIN receivers r ON r.id = heads.webhook_id
    ), chosen AS (
      SELECT id, rank > 1 AS is_extra, row_number() OVER (ORDER BY rank, served_at NULLS FIRST, webhook_id) AS position
      FROM ranked WHERE rank <= ${perSubscription}::int AND (rank = 1 OR number <= ${extra}::int)
      ORDER BY position LIMIT ${limit}
    ), free AS MATERIALIZED (
      SELECT d.id, chosen.is_extra, chosen.position FROM webhook_deliveries d JOIN chosen USING (id) WHERE ${isFree}
      FOR UPDATE OF d SKIP LOCKED
    ), behind AS MATERIALIZED (
      SELECT d.id, CASE WHEN free.id IS NULL THEN candidates.head_at
                        ELSE now() + make_interval(secs => ${leaseMs / 1_000}::float8) END AS postponed_until
      FROM webhook_deliveries d JOIN candidates USING (id) LEFT JOIN free ON free.id = candidates.head_id
      WHERE candidates.id <> candidates.head_id AND (free.id IS NOT NULL OR candidates.head_at > now())
      FOR UPDATE OF d SKIP LOCKED
    ), delayed AS (
      UPDATE webhook_deliveries d SET next_attempt_at = behind.postponed_until FROM behind WHERE d.id = behind.id
    ), claimed AS (
      UPDATE webhook_deliveries d
      SET attempts = d.attempts + 1, tries = d.tries + 1, last_attempt_at = now(),
          claimed_until = now() + make_interval(secs => ${leaseMs / 1_000}::float8)
      FROM free WHERE d.id = free.id
      RETURNING d.id, d.webhook_id, d.event, d.payload::text AS body, d.attempts, d.tries,
                (extract(epoch FROM now() - d.queued_at) * 1000)::float8 AS age_ms, free.is_extra, free.position
    ), served AS (
      UPDATE webhooks w SET served_at = now() WHERE w.id IN (SELECT webhook_id FROM claimed)
    )
    SELECT claimed.id::text AS id, claimed.webhook_id::text AS webhook_id, receivers.url, receivers.secret, claimed.event,
           claimed.body, claimed.attempts, claimed.tries, claimed.age_ms, claimed.is_extra,
           delayed.count AS delayed
    FROM (SELECT count(*)::int AS count FROM behind) AS delayed
    LEFT JOIN claimed ON true LEFT JOIN receivers ON receivers.id = claimed.webhook_id
    ORDER BY claimed.position`

  const claimGroup = Effect.fnUntraced(function* (named: ReadonlyArray<string>, group: Group) {
    if (named.length === 0 || group.limit <= 0) return { deliveries: [], more: false }
    const rows = yield* sql.withTransaction(
      Effect.gen(function* () {
        const ids = (yield* lock(named, group.limit)).map(({ id }) => id)
        return ids.length === 0 ? [] : yield* take(ids, group)
      })
    )
    const deliveries = rows.flatMap((row) => (row.id === null ? [] : [toClaimed(row, group)]))
    return { deliveries, more: (rows[0]?.delayed ?? 0) > 0 && deliveries.length < group.limit }
  })

  return Effect.fn("DeliveryQueue.claim")(function* (limits: ClaimLimits) {
    const [found] = yield* findDue(limits)
    if (found === undefined) return NOTHING
    const groupOf = (lane: DeliveryLane) => {
      const { all, extra, slowed } = limits.free[lane]
      const { leaseMs, perSubscription } = limits
      const healthy = claimGroup(found[lane], { lane, isSlow: false, limit: all, extra, perSubscription, leaseMs })
      return Effect.flatMap(healthy, (first) => {
        const limit = Math.min(slowed, all - first.deliveries.length)
        const group = { lane, isSlow: true, limit, extra: 0, perSubscription: 1, leaseMs }
        return Effect.map(claimGroup(found[`slowed_${lane}`], group), (slow) => [first, slow])
      })
    }
    const claimed = [...(yield* groupOf("alerts")), ...(yield* groupOf("others"))]
    return {
      deliveries: claimed.flatMap(({ deliveries }) => deliveries),
      nextDueMs: found.next_due_ms ?? undefined,
      more: claimed.some(({ more }) => more)
    }
  })
})

/** What one statement claims: of one lane, of subscriptions that are slowed or of the others. */
interface Group {
  readonly lane: DeliveryLane
  readonly isSlow: boolean
  readonly limit: number
  readonly extra: number
  readonly perSubscription: number
  readonly leaseMs: number
}

interface DueRow {
  readonly alerts: ReadonlyArray<string>
  readonly slowed_alerts: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  readonly slowed_others: ReadonlyArray<string>
  readonly next_due_ms: number | null
}

type Columns = Omit<ClaimedDelivery, "webhookId" | "ageMs" | "slot"> & {
  readonly webhook_id: string
  readonly age_ms: number
  readonly is_extra: boolean
}

/** The claimed deliveries, or one empty row; both have the number of delayed ones. */
type ClaimedRow = (Columns | { readonly [column in keyof Columns]: null }) & { readonly delayed: number }

const toClaimed = (
  { age_ms, is_extra, delayed: _, webhook_id, ...row }: Columns & { readonly delayed: number },
  { isSlow, lane }: Group
): ClaimedDelivery => ({
  ...row,
  webhookId: webhook_id,
  ageMs: age_ms,
  slot: { lane, kind: isSlow ? "slowed" : is_extra ? "extra" : "first" }
})
