import { STORAGE_KEY, session, signIn, signOut } from "./Session.ts"

/** A request for a key, or the key of a tab; without a key after a sign-out. */
type Message = { readonly kind: "ask" } | { readonly kind: "key"; readonly key?: string }

const isMessage = (data: unknown): data is Message => {
  if (typeof data !== "object" || data === null || !("kind" in data)) return false
  if (data.kind === "ask") return true
  return data.kind === "key" && (!("key" in data) || typeof data.key === "string")
}

/**
 * Shares the key between the open tabs of a browser. A channel of the browser carries it, which only pages of the same
 * origin can read; nothing stores it for longer than a tab, so it is gone when the last tab is closed.
 */
const share = (channel: BroadcastChannel): void => {
  const post = (message: Message) => channel.postMessage(message)
  const ask = () => {
    if (session.get().isRefused) post({ kind: "ask" })
  }
  let last = session.get()
  session.subscribe(() => {
    const before = last
    last = session.get()
    if (last.isRefused && !before.isRefused) ask()
    if (last.key !== before.key) post({ kind: "key", ...(last.key !== undefined && { key: last.key }) })
  })
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (!isMessage(data)) return
    const { isRefused, key } = session.get()
    if (data.kind === "ask") {
      if (key !== undefined && !isRefused) post({ kind: "key", key })
      return
    }
    const given = data.key
    if (given === undefined ? key !== undefined : isRefused && given !== key) {
      // A key that another tab gave is not announced again.
      last = { key: given, isRefused: false, why: "" }
      if (given === undefined) signOut()
      else signIn(given)
    }
  })
  ask()
}

// Browsers without channels keep the key in its tab.
if (typeof BroadcastChannel !== "undefined") share(new BroadcastChannel(STORAGE_KEY))
