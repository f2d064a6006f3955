import { emptyRunState, RunId, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import type { EventRepository, StoredEvent } from "../../src/event-log/EventRepository.ts"
import type { RunStateReader } from "../../src/event-log/projection/RunStateReader.ts"
import type { LiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { makeLiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { type LiveGap, Subscription } from "../../src/event-log/subscribe/Subscription.ts"
import type { FeedSources } from "../../src/streams/run/RunFeed.ts"
import { passiveClient } from "../../src/streams/run/StreamClient.ts"

export const MEMORY_RUN = RunId.make("00000000-0000-4000-8000-000000000001")

/**
 * The log of one run in memory, as a feed sees it: commit and notification are two steps, so that a test can put
 * anything between them, or omit the notification.
 */
export class MemoryLog {
  readonly events: Array<StoredEvent> = []
  status: RunStatus = "running"
  /** Nothing can be read for as long as this is so. */
  away = false
  /** The run is deleted, with all of its events. */
  deleted = false
  /** So many reads of the head answer what it was one event before: they began then. */
  staleHeads = 0
  /** All subscribers of the run. */
  audience = { size: 1 }
  /** Reads that came, for tests of what is not read. */
  pagesRead = 0
  /** What happens right after a page was read. */
  afterPage: () => void = () => {}

  get head() {
    const last = this.events.at(-1)
    return { runId: MEMORY_RUN, status: this.status, lastSeq: last?.seq ?? 0, lastIndex: last?.index ?? 0 }
  }

  get snapshot() {
    const state = emptyRunState(MEMORY_RUN)
    const { lastIndex, lastSeq, status } = this.head
    const timeline = { ...state.timeline, latestSeq: lastSeq, latestIndex: lastIndex }
    return { ...this.head, state: JSON.stringify({ ...state, run: { ...state.run, status }, timeline }) }
  }

  /** Commits events, with gaps between their seqs, and returns their batch. */
  commit(count: number, status?: RunStatus): LiveBatch {
    const added = Array.from({ length: count }, (): StoredEvent => {
      const { lastIndex, lastSeq } = this.head
      const event = { seq: lastSeq + 3, index: lastIndex + 1 }
      const stored = { ...event, json: JSON.stringify(event) }
      this.events.push(stored)
      return stored
    })
    if (status !== undefined) this.status = status
    const { state, ...head } = this.snapshot
    return makeLiveBatch({
      changed: status !== undefined,
      events: added.map((event) => ({ ...event, type: "message.received" as const })),
      state: () => state,
      ...head
    })
  }

  readonly repository: EventRepository["Service"] = {
    page: () => Effect.die(new Error("a feed reads slices")),
    text: () => Effect.die(new Error("a feed reads slices")),
    slice: (_runId, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER }, limit) =>
      this.#read(() => {
        this.pagesRead += 1
        const all = this.deleted ? [] : this.events.filter(({ seq }) => seq > afterSeq && seq <= upToSeq)
        const events = all.slice(0, limit)
        this.afterPage()
        return { events, isLast: events.length === all.length }
      }),
    count: () => Effect.succeed(this.events.length),
    head: () => Effect.succeed({ ...this.head, cursor: 0 })
  }

  #read<A>(value: () => A): Effect.Effect<A, SqlError> {
    return Effect.suspend(() =>
      this.away
        ? Effect.fail(new SqlError({ reason: new ConnectionError({ cause: new Error("away"), operation: "connect" }) }))
        : Effect.sync(value)
    )
  }

  readonly states: RunStateReader["Service"] = {
    head: () =>
      this.#read(() => {
        if (this.deleted) return undefined
        if (this.staleHeads === 0) return this.head
        this.staleHeads -= 1
        const { index: lastIndex = 0, seq: lastSeq = 0 } = this.events.at(-2) ?? {}
        return { ...this.head, lastSeq, lastIndex }
      }),
    current: () => this.#read(() => (this.deleted ? undefined : this.snapshot))
  }

  readonly sources = Effect.gen({ self: this }, function* () {
    const mailbox = new Subscription(this.audience)
    const sources: FeedSources = {
      events: this.repository,
      states: this.states,
      subscription: mailbox,
      start: this.snapshot,
      ended: Effect.never,
      client: passiveClient
    }
    return { sources, tell: (item: LiveBatch | LiveGap) => mailbox.put(item) }
  })
}
