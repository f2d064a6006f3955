import { type RefObject, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"
import { clockOf, ownClockOf } from "../view/live/Clock.ts"
import type { Store } from "../view/live/Store.ts"
import { readParams, type ValuesOf, writeParams } from "../view/query/UrlState.ts"

export const useStore = <A>(store: Store<A>): A => useSyncExternalStore(store.subscribe, store.get)

/**
 * The state of a page in its address. A change replaces the history entry, unless `push` is set: the back button
 * skips the letters of a search.
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

/** The time by the service's clock, updated every `everyMs` milliseconds: for the times of its data. */
export const useNow = (everyMs: number): number => {
  const { get, subscribe } = clockOf(everyMs)
  return useSyncExternalStore(subscribe, get)
}

/** As `useNow`, by the clock of this computer: for times that the page itself has noted. */
export const useOwnNow = (everyMs: number): number => {
  const { get, subscribe } = ownClockOf(everyMs)
  return useSyncExternalStore(subscribe, get)
}

/** The value once it has not changed for `forMs` milliseconds. */
export const useSettled = <A>(value: A, forMs: number): A => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), forMs)
    return () => clearTimeout(timer)
  }, [value, forMs])
  return settled
}

/** A reference to the latest value. */
export const useLatest = <A>(value: A): { readonly current: A } => {
  const latest = useRef(value)
  latest.current = value
  return latest
}

const COPIED_MS = 1_200

/** Copies a text to the clipboard; the flag is true for a moment afterwards. */
export const useCopy = (): readonly [isCopied: boolean, copy: (text: string) => void] => {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (text: string) => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false)
    )
  }
  return [isCopied, copy]
}

/** The width of an element, whole pixels. */
export const useWidth = (element: RefObject<HTMLElement | null>): number => {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

/** The height of an element, CSS pixels; 0 until it is measured. */
export const useHeight = (element: RefObject<HTMLElement | null>): number => {
  const [height, setHeight] = useState(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setHeight(Math.floor(entry?.contentRect.height ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return height
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
