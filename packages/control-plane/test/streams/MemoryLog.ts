import { emptyRunState, RunId, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import type { EventRepository, StoredEvent } from "../../src/event-log/EventRepository.ts"
import type { RunStateReader } from "../../src/event-log/projection/RunStateReader.ts"
import type { LiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { makeLiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { type LiveGap, Subscription } from "../../src/event-log/subscribe/Subscription.ts"

export const MEMORY_RUN = RunId.make("00000000-0000-4000-8000-000000000001")

/**
 * The log of one run in memory. Commit and publication are two steps, so that a test can do anything between them, or
 * leave out the publication.
 */
export class MemoryLog {
  readonly events: Array<StoredEvent> = []
  status: RunStatus = "running"
  /** Reads fail. */
  away = false
  /** The run is deleted, with all of its events. */
  deleted = false
  /** The number of reads of the head that began before the last event was committed. */
  staleHeads = 0
  /** The subscribers of the run. */
  audience = { size: 1 }
  /** The number of pages that were read. */
  pagesRead = 0
  /** Called after each read of a page. */
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
    page: () => Effect.die(new Error("a stream reads slices")),
    text: () => Effect.die(new Error("a stream reads slices")),
    slice: (_runId, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER }, limit) =>
      this.#read(() => {
        this.pagesRead += 1
        const all = this.deleted ? [] : this.events.filter(({ seq }) => seq > afterSeq && seq <= upToSeq)
        const events = all.slice(0, limit)
        this.afterPage()
        return { events, isLast: events.length === all.length }
      }),
    salted: () => Effect.die(new Error("a stream reads slices")),
    count: () => Effect.succeed(this.events.length),
    head: () => Effect.succeed({ ...this.head, cursor: 0 }),
    firstSeq: () => Effect.succeed(this.events[0]?.seq)
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

  /** A subscription of the run, and the function that publishes to it. */
  subscribe() {
    const subscription = new Subscription(this.audience)
    return { subscription, publish: (item: LiveBatch | LiveGap) => subscription.put(item) }
  }
}
