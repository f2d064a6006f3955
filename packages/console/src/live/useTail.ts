import type { CanonicalEvent } from "@runplane/domain"
import { useEffect, useReducer, useRef, useState } from "react"
import type { CallFailed } from "../client/Problem.ts"
import { inBounds } from "./EventSize.ts"
import { followLog } from "./LogFollower.ts"

/** Events that are kept, large ones shortened; older ones are dropped. */
export const MOST_EVENTS = 20_000

export interface Tail {
  /** The newest first. */
  readonly events: ReadonlyArray<CanonicalEvent>
  /** Events that came since it was paused; at most as many as are kept. */
  readonly waiting: number
  /** Whether older events were dropped. */
  readonly isCut: boolean
  readonly isBegun: boolean
  /** Why it is not followed any more. */
  readonly error: CallFailed | undefined
  /** Why the service is asked again and again just now, and since when: milliseconds. */
  readonly away: { readonly error: CallFailed; readonly since: number } | undefined
  readonly again: () => void
}

/** The events of all runs as they come, drawn at most once a frame; paused, what comes is counted and kept apart. */
export const useTail = (q: string, isPaused: boolean): Tail => {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  const [attempt, setAttempt] = useState(0)
  const [error, setError] = useState<CallFailed>()
  const [away, setAway] = useState<Tail["away"]>()
  const store = useRef({
    shown: [] as Array<CanonicalEvent>,
    held: [] as Array<CanonicalEvent>,
    isCut: false,
    isBegun: false
  })
  const paused = useRef(isPaused)
  paused.current = isPaused

  useEffect(() => {
    store.current = { shown: [], held: [], isCut: false, isBegun: false }
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
        take: (taken, isPast) => {
          const events = taken.map(inBounds)
          const { held, shown } = store.current
          store.current.isBegun = true
          if (isPast) shown.push(...events.toReversed())
          else (paused.current ? held : shown).unshift(...events.toReversed())
          for (const list of [held, shown]) {
            if (list.length <= MOST_EVENTS) continue
            list.length = MOST_EVENTS
            store.current.isCut = true
          }
          redraw()
        },
        failed: setError,
        reset: () => setAttempt((before) => before + 1),
        away: (why) => setAway((before) => why && { error: why, since: before?.since ?? Date.now() })
      }
    )
    draw()
    return () => {
      cancelAnimationFrame(frame)
      stop()
    }
  }, [q, attempt])

  useEffect(() => {
    const { held, shown } = store.current
    if (isPaused || held.length === 0) return
    store.current.shown = [...held, ...shown].slice(0, MOST_EVENTS)
    store.current.held = []
    draw()
  }, [isPaused])

  const { held, isBegun, isCut, shown } = store.current
  return {
    events: shown,
    waiting: held.length,
    isCut,
    isBegun,
    error,
    away,
    again: () => setAttempt((before) => before + 1)
  }
}
