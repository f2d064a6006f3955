import { useEffect } from "react"
import { useLatest } from "./hooks.ts"

export interface Shortcut {
  /** One key, or two that are pressed one after the other (`g r`); `mod+k` is with Ctrl or Command. */
  readonly keys: string
  readonly says: string
  readonly group: string
  readonly run: () => void
}

/** The active shortcuts, the newest page last; the help lists them. */
const active = new Set<{ readonly current: ReadonlyArray<Shortcut> }>()

export const activeShortcuts = (): ReadonlyArray<Shortcut> => [...active].flatMap(({ current }) => current)

/** Two keys count as one shortcut when the second comes within this time. */
const SEQUENCE_MS = 900

let before = { key: "", at: 0 }

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input:not([type=checkbox]),textarea,select"))

const onKey = (event: KeyboardEvent) => {
  if (event.defaultPrevented || event.altKey) return
  const withModifier = event.ctrlKey || event.metaKey
  const key = withModifier ? `mod+${event.key.toLowerCase()}` : event.key
  if (!withModifier && isTyping(event.target)) return
  // Enter on a link or a button is theirs.
  if (key === "Enter" && event.target instanceof HTMLElement && event.target.closest("a,button,summary")) return
  // A dialog handles its own keys.
  if (!withModifier && event.target instanceof HTMLElement && event.target.closest("[role=dialog]") !== null) return
  const pair = event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${key}` : ""
  before = { key, at: event.timeStamp }
  const found =
    activeShortcuts().findLast(({ keys }) => keys === pair) ?? activeShortcuts().findLast(({ keys }) => keys === key)
  if (found === undefined) return
  event.preventDefault()
  before = { key: "", at: 0 }
  found.run()
}

window.addEventListener("keydown", onKey)

/** Makes the shortcuts work as long as the component is there. */
export const useShortcuts = (shortcuts: ReadonlyArray<Shortcut>): void => {
  const latest = useLatest(shortcuts)
  useEffect(() => {
    active.add(latest)
    return () => {
      active.delete(latest)
    }
  }, [latest])
}
