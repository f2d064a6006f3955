import { serverOffset, serviceNow } from "./ServerClock.ts"
import { makeStore, type Store } from "./Store.ts"

export type Clock = Pick<Store<number>, "get" | "subscribe">

/** The clocks of this file with one source of time. */
const clocksOf = (now: () => number) => {
  const clocks = new Map<number, Clock>()
  return (everyMs: number): Clock => {
    const known = clocks.get(everyMs)
    if (known !== undefined) return known
    const clock = makeClock(everyMs, now)
    clocks.set(everyMs, clock)
    return clock
  }
}

const makeClock = (everyMs: number, now: () => number): Clock => {
  const time = makeStore(now())
  const tick = () => time.set(now())
  let timer: ReturnType<typeof setInterval> | undefined
  let leaveOffset = () => {}
  let listening = 0
  return {
    get: () => {
      // Without listeners it has not ticked.
      if (timer === undefined && Math.abs(now() - time.get()) >= everyMs) tick()
      return time.get()
    },
    subscribe: (listener) => {
      const leave = time.subscribe(listener)
      listening += 1
      if (timer === undefined) {
        timer = setInterval(tick, everyMs)
        leaveOffset = serverOffset.subscribe(tick)
      }
      return () => {
        leave()
        listening -= 1
        if (listening > 0) return
        clearInterval(timer)
        leaveOffset()
        timer = undefined
      }
    }
  }
}

/**
 * One clock for all components with the same interval: a long list has hundreds of them. It ticks while it has
 * listeners, and its time is never older than the interval. Milliseconds, by the service's clock, as all its data are.
 */
export const clockOf = clocksOf(serviceNow)

/** As `clockOf`, by the clock of this computer: for times that the page itself has noted. */
export const ownClockOf = clocksOf(() => Date.now())
