import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"
import { clockOf } from "../view/Clock.ts"
import type { Store } from "../view/Store.ts"
import { readParams, type ValuesOf, writeParams } from "../view/UrlState.ts"

export const useStore = <A>(store: Store<A>): A => useSyncExternalStore(store.subscribe, store.get)

/**
 * The state of a page in its address. A change replaces the entry of the history unless it says `push`: who filters
 * does not want to go back through every letter.
 */
export const useUrlState = <P extends object>(
  params: P
): readonly [ValuesOf<P>, (patch: Partial<ValuesOf<P>>, how?: { readonly push?: boolean }) => void] => {
  const search = useSearch()
  const values = useMemo(() => readParams(params, search), [params, search])
  const set = useCallback(
    (patch: Partial<ValuesOf<P>>, { push = false }: { readonly push?: boolean } = {}) => {
      const { hash, pathname, search: now } = window.location
      navigate(`${pathname}${writeParams(params, now, patch)}${hash}`, { replace: !push })
    },
    [params]
  )
  return [values, set]
}

/** The time, told anew every so many milliseconds. */
export const useNow = (everyMs: number): number => {
  const { get, subscribe } = clockOf(everyMs)
  return useSyncExternalStore(subscribe, get)
}

/** The value once it has been the same for so many milliseconds. */
export const useSettled = <A>(value: A, forMs: number): A => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), forMs)
    return () => clearTimeout(timer)
  }, [value, forMs])
  return settled
}

/** The last value that was there: what a list shows while its next page is on the way. */
export const useLatest = <A>(value: A): { readonly current: A } => {
  const latest = useRef(value)
  latest.current = value
  return latest
}

/** Title of the browser's tab. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = title === "" ? "Runplane" : `${title} · Runplane`
  }, [title])
}

/** Whether a media query fits the screen, now and when that changes. */
export const useMedia = (query: string): boolean => {
  const media = useMemo(() => window.matchMedia(query), [query])
  return useSyncExternalStore(
    (listener) => {
      media.addEventListener("change", listener)
      return () => media.removeEventListener("change", listener)
    },
    () => media.matches
  )
}
