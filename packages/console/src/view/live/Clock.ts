import { makeStore, type Store } from "./Store.ts"

export type Clock = Pick<Store<number>, "get" | "subscribe">

const clocks = new Map<number, Clock>()

/**
 * One clock for all components with the same interval: a long list has hundreds of them. It ticks while it has
 * listeners, and its time is never older than the interval. Milliseconds.
 */
export const clockOf = (everyMs: number): Clock => {
  const known = clocks.get(everyMs)
  if (known !== undefined) return known
  const time = makeStore(Date.now())
  const tick = () => time.set(Date.now())
  let timer: ReturnType<typeof setInterval> | undefined
  let listening = 0
  const clock: Clock = {
    get: () => {
      // Without listeners it has not ticked.
      if (timer === undefined && Date.now() - time.get() >= everyMs) tick()
      return time.get()
    },
    subscribe: (listener) => {
      const leave = time.subscribe(listener)
      listening += 1
      timer ??= setInterval(tick, everyMs)
      return () => {
        leave()
        listening -= 1
        if (listening > 0) return
        clearInterval(timer)
        timer = undefined
      }
    }
  }
  clocks.set(everyMs, clock)
  return clock
}
