import { makeFairQueue } from "@runplane/domain"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { RequestFacts } from "./http/RequestFacts.ts"

const TEXTS = {
  caller: "too many requests of this caller wait for their turn",
  total: "too many requests wait for their turn",
  wait: "the turn of this request did not come in time",
  busy: "other requests took too much of the time of this one"
}

/**
 * A lane gave no turn (docs/reference/http.md#turns): the caller has too many requests in it, or the lane is too busy.
 */
export class TurnRefused extends Data.TaggedError("TurnRefused")<{
  readonly lane: string
  readonly reason: keyof typeof TEXTS
}> {
  override get message(): string {
    return `${this.lane}: ${TEXTS[this.reason]}`
  }
}

/** Requests that wait in a lane: of one caller, and of all. */
export const MOST_WAITING = { perCaller: 200, total: 2_000 }
/** The longest wait for a turn. */
export const LONGEST_WAIT = "30 seconds"

export interface FairTurns {
  /**
   * Runs an effect in the turn of the caller. The caller is that of the current request (`RequestFacts`); all that runs
   * outside of requests is one caller. A request that is interrupted leaves the lane at once.
   */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TurnRefused, R>
  /** The same for an answer that has begun: it is not refused, and waits as long as it takes. */
  readonly goOn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits for a turn, as long as it takes, and holds it until the scope closes. */
  readonly scoped: Effect.Effect<void, never, Scope.Scope>
}

/** A request in a lane. */
interface Entry {
  hasTurn: boolean
  begin: () => void
}

export interface LaneOptions {
  /** How long a request waits for its turn. */
  readonly longestWait?: Duration.Input
  /** Effects of one caller that run at a time; `atOnce` unless said. */
  readonly ofCaller?: number
}

/**
 * Makes a lane of which `atOnce` effects run at a time, in turns by caller (docs/reference/http.md#turns). However many
 * requests one caller has in it, the request of another waits for one of them at most. Refusals quote `name`.
 */
export const makeFairTurns = (
  name: string,
  atOnce: number,
  { longestWait = LONGEST_WAIT, ofCaller = atOnce }: LaneOptions = {}
): FairTurns => {
  const lane = makeFairQueue<Entry>(atOnce, ofCaller)

  const end = (caller: string) => {
    const next = lane.end(caller)
    if (next === undefined) return
    next.hasTurn = true
    next.begin()
  }

  const leave = (caller: string, entry: Entry) =>
    Effect.sync(() => (entry.hasTurn ? end(caller) : lane.remove(caller, entry)))

  const wait = (entry: Entry): Effect.Effect<void> =>
    Effect.callback((resume) => {
      entry.begin = () => resume(Effect.void)
      // The fiber may have yielded since it entered the lane.
      if (entry.hasTurn) entry.begin()
    })

  const refused = (reason: TurnRefused["reason"]) => Effect.fail(new TurnRefused({ lane: name, reason }))

  const inTime = (entry: Entry): Effect.Effect<void, TurnRefused> =>
    Effect.timeoutOrElse(wait(entry), { duration: longestWait, orElse: () => refused("wait") })

  const inTurn = <A, E, R, E2>(
    effect: Effect.Effect<A, E, R>,
    waiting: (entry: Entry) => Effect.Effect<void, E2>
  ): Effect.Effect<A, E | E2, R> =>
    Effect.flatMap(RequestFacts, ({ client }) =>
      Effect.uninterruptibleMask((restore) => {
        const entry: Entry = { hasTurn: false, begin: () => undefined }
        entry.hasTurn = lane.enter(client, entry)
        // A turn may come in the moment of an interruption or a timeout: it is given back.
        return Effect.ensuring(
          entry.hasTurn ? restore(effect) : restore(Effect.andThen(waiting(entry), effect)),
          leave(client, entry)
        )
      })
    )

  return {
    run: (effect) =>
      Effect.flatMap(RequestFacts, ({ client }) => {
        if (lane.waitingOf(client) >= MOST_WAITING.perCaller) return refused("caller")
        return lane.waiting() >= MOST_WAITING.total ? refused("total") : inTurn(effect, inTime)
      }),
    goOn: (effect) => inTurn(effect, wait),
    scoped: Effect.flatMap(RequestFacts, ({ client }) =>
      Effect.uninterruptibleMask((restore) => {
        const entry: Entry = { hasTurn: false, begin: () => undefined }
        entry.hasTurn = lane.enter(client, entry)
        const held = Effect.addFinalizer(() => leave(client, entry))
        return entry.hasTurn ? held : Effect.andThen(held, restore(wait(entry)))
      })
    )
  }
}

/**
 * Makes a lane for turns that take long: one caller has `ofCaller` of them at a time, and one more is left for the
 * others (docs/reference/http.md#turns).
 */
export const makeLongTurns = (name: string, ofCaller: number, options: Omit<LaneOptions, "ofCaller"> = {}): FairTurns =>
  makeFairTurns(name, ofCaller + 1, { ...options, ofCaller })
