import type { InboxItem } from "@runplane/api"
import { useEffect, useRef, useState } from "react"
import { changesOf, shownPart } from "../../view/inbox/ItemChanges.ts"

/** What a person is about to press has not moved for this long, milliseconds. */
export const STEADY_MS = 500

/** Whether a value has been the same for a moment; false at first. */
export const useSteady = (value: string): boolean => {
  const [steady, setSteady] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setSteady(value), STEADY_MS)
    return () => clearTimeout(timer)
  }, [value])
  return steady === value
}

/** What changed at the last change of an item; empty before the first one. */
export const useChanges = (item: InboxItem): ReadonlyArray<string> => {
  const [changes, setChanges] = useState<ReadonlyArray<string>>([])
  const last = useRef(item)
  const part = shownPart(item)
  useEffect(() => {
    if (shownPart(last.current) === part) return
    setChanges(changesOf(last.current, item))
    last.current = item
  }, [part, item])
  return changes
}
