import { makeRequestBudget } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { IngestSettings } from "./IngestSettings.ts"

/** An export counts as one for each started part of so many bytes of its inflated body. */
const COUNTED_BYTES = 16 * 1_024
const MINUTE_MS = 60_000
/** Sources whose traces are remembered. */
const MOST_SOURCES = 1_000

/** A client sends too many exports, or a source too many new traces: the exporter sends it again later. */
export class ExportRefused extends Data.TaggedError("ExportRefused")<{
  readonly message: string
  readonly retryAfterMs: number
}> {}

/** The traces of a source in this minute and in the one before. */
interface SeenTraces {
  endsAt: number
  /** New ones of this minute. */
  fresh: number
  now: Set<string>
  before: Set<string>
}

/**
 * The budgets of exporters (docs/reference/ingest.md#budgets). Each process counts for itself. Bounds of memory: the
 * budget of traces bounds those of a source, and the number of sources is bounded.
 */
export const makeExportBudgets = Effect.gen(function* () {
  const { exportLimit, exportWindowMs, newTracesPerMinute } = yield* IngestSettings
  const exports = makeRequestBudget({ limit: exportLimit, windowMs: exportWindowMs })
  const sources = new Map<string, SeenTraces>()

  const seenOf = (source: string, now: number): SeenTraces => {
    const known = sources.get(source)
    if (known !== undefined && now < known.endsAt) return known
    const isRecent = known !== undefined && now < known.endsAt + MINUTE_MS
    const before = isRecent ? known.now : new Set<string>()
    const seen = { endsAt: now + MINUTE_MS, fresh: 0, now: new Set<string>(), before }
    // Taken out first: the map stays in the order of the minutes, and the oldest goes.
    sources.delete(source)
    sources.set(source, seen)
    const [oldest] = sources.keys()
    if (sources.size > MOST_SOURCES && oldest !== undefined) sources.delete(oldest)
    return seen
  }

  return {
    /** Takes an export of so many inflated bytes from the budget of its client; `counted` bytes are taken already. */
    spend: Effect.fnUntraced(function* (client: string, bytes: number, counted = 0) {
      const cost = costOf(bytes) - (counted === 0 ? 0 : costOf(counted))
      if (cost <= 0) return
      const spending = exports.spend(client, yield* Clock.currentTimeMillis, cost)
      if (spending.allowed) return
      const { retryAfterMs } = spending
      return yield* new ExportRefused({ message: "too many exports of this client in one window", retryAfterMs })
    }),
    /** Takes the new traces of an export from the budget of its source. The first export of a minute always passes. */
    addTraces: Effect.fnUntraced(function* (source: string, traceIds: ReadonlySet<string>) {
      const now = yield* Clock.currentTimeMillis
      const seen = seenOf(source, now)
      const fresh = [...traceIds].filter((id) => !seen.now.has(id) && !seen.before.has(id))
      if (seen.fresh > 0 && seen.fresh + fresh.length > newTracesPerMinute) {
        const message = `the source has sent ${newTracesPerMinute} new traces in one minute, or would with this export`
        return yield* new ExportRefused({ message, retryAfterMs: seen.endsAt - now })
      }
      seen.fresh += fresh.length
      for (const id of traceIds) seen.now.add(id)
    })
  }
})

const costOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / COUNTED_BYTES))
