import type { CanonicalEvent } from "@runplane/domain"
import { useCallback, useEffect, useRef, useState } from "react"
import type { CallFailed } from "../client/Problem.ts"
import { inBounds } from "./EventSize.ts"
import { followLog } from "./LogFollower.ts"

/** Capacity in events; large events are shortened, and older ones are dropped. */
export const MOST_EVENTS = 20_000

export interface Tail {
  /** The newest first. */
  readonly events: ReadonlyArray<CanonicalEvent>
  /** Events received since the pause, up to the capacity. */
  readonly waiting: number
  /** Whether older events were dropped. */
  readonly isCut: boolean
  readonly isBegun: boolean
  /** The failure that ended the stream. */
  readonly error: CallFailed | undefined
  /** Why the client reconnects, and since when: milliseconds. */
  readonly away: { readonly error: CallFailed; readonly since: number } | undefined
  readonly again: () => void
}

/** What a page draws of a tail. */
type Drawn = Pick<Tail, "events" | "waiting" | "isCut" | "isBegun">

const NOTHING: Drawn = { events: [], waiting: 0, isCut: false, isBegun: false }

/**
 * The events of all runs, drawn at most once a frame of the screen; a paused tail counts new events and hides them.
 *
 * Each drawing has a list of its own. A render that reads a list which changes meanwhile loses effects: React drops
 * those of a render without a change of state, and keeps their dependencies.
 */
export const useTail = (q: string, isPaused: boolean): Tail => {
  const [drawn, setDrawn] = useState(NOTHING)
  const [attempt, setAttempt] = useState(0)
  const [error, setError] = useState<CallFailed>()
  const [away, setAway] = useState<Tail["away"]>()
  const store = useRef({
    shown: [] as Array<CanonicalEvent>,
    pending: [] as Array<CanonicalEvent>,
    isCut: false,
    isBegun: false
  })
  const draw = useCallback(() => {
    const { isBegun, isCut, pending, shown } = store.current
    setDrawn({ events: shown.slice(), waiting: pending.length, isCut, isBegun })
  }, [])
  const paused = useRef(isPaused)
  paused.current = isPaused

  useEffect(() => {
    store.current = { shown: [], pending: [], isCut: false, isBegun: false }
    setError(undefined)
    setAway(undefined)
    let frame = 0
    const redraw = () => {
      if (frame !== 0) return
      frame = requestAnimationFrame(() => {
        frame = 0
        draw()
      })
    }
    const stop = followLog(
      { q },
      {
        receive: (received, isPast) => {
          const events = received.map(inBounds)
          const { pending, shown } = store.current
          store.current.isBegun = true
          if (isPast) shown.push(...events.toReversed())
          else (paused.current ? pending : shown).unshift(...events.toReversed())
          for (const list of [pending, shown]) {
            if (list.length <= MOST_EVENTS) continue
            list.length = MOST_EVENTS
            store.current.isCut = true
          }
          redraw()
        },
        failed: setError,
        reset: () => setAttempt((before) => before + 1),
        away: (reason) => setAway((before) => reason && { error: reason, since: before?.since ?? Date.now() })
      }
    )
    draw()
    return () => {
      cancelAnimationFrame(frame)
      stop()
    }
  }, [q, attempt, draw])

  useEffect(() => {
    const { pending, shown } = store.current
    if (isPaused || pending.length === 0) return
    store.current.shown = [...pending, ...shown].slice(0, MOST_EVENTS)
    store.current.pending = []
    draw()
  }, [isPaused, draw])

  return { ...drawn, error, away, again: () => setAttempt((before) => before + 1) }
}
