import { makeStore } from "../view/live/Store.ts"

/** The state of the connection, which the sidebar shows. */
export type Connection =
  /** A stream is open and everything up to `complete` was received. */
  | { readonly state: "live"; readonly complete: number }
  | { readonly state: "catching-up"; readonly behind: number }
  /** The stream was lost at the time `since`, milliseconds; 0: it was not open before. */
  | { readonly state: "reconnecting"; readonly since: number }
  /** The run has ended and all of its events are loaded. */
  | { readonly state: "complete"; readonly complete: number }
  /** The page polls every few seconds. */
  | { readonly state: "polling" }
  /** A call has had no answer since the time `since`, milliseconds: the service may have stopped. */
  | { readonly state: "waiting"; readonly since: number }
  /** The service answers, and its database does not. */
  | { readonly state: "no-database" }
  /** The service refuses the stream of the page. */
  | { readonly state: "failed" }
  | { readonly state: "unreachable" }

/** A call without an answer for this long is shown. Milliseconds. */
export const PENDING_MS = 5_000

const reached = makeStore(true)
const database = makeStore(true)
const waiting = makeStore<number | undefined>(undefined)
const streamed = makeStore<Connection | undefined>(undefined)
export const connection = makeStore<Connection>({ state: "polling" })

/** States in which the data of the page would be taken for current. */
const CURRENT: ReadonlySet<Connection["state"]> = new Set(["live", "complete", "polling", "catching-up"])

const current = (): Connection => {
  const stream = streamed.get()
  const isOpen = stream !== undefined && stream.state !== "complete"
  const base: Connection = isOpen || reached.get() ? (stream ?? { state: "polling" }) : { state: "unreachable" }
  if (!CURRENT.has(base.state)) return base
  const since = waiting.get()
  if (since !== undefined) return { state: "waiting", since }
  return database.get() ? base : { state: "no-database" }
}

const update = () => connection.set(current())
for (const store of [reached, database, waiting, streamed]) store.subscribe(update)

/** Whether the last call got an answer. */
export const sawAnswer = (answered: boolean): void => reached.set(answered)

/** Whether the database of the service answers. */
export const sawDatabase = (isThere: boolean): void => database.set(isThere)

/** The calls that have no answer for long, with their beginnings. */
const late = new Map<object, number>()
const updateLate = () => waiting.set(late.size === 0 ? undefined : Math.min(...late.values()))

/** A call begins; the result ends it. The connection shows that it has no answer for some seconds. */
export const beginCall = (): (() => void) => {
  const call = {}
  const since = Date.now()
  const timer = setTimeout(() => {
    late.set(call, since)
    updateLate()
  }, PENDING_MS)
  return () => {
    clearTimeout(timer)
    if (late.delete(call)) updateLate()
  }
}

/** The stream of the page; undefined when it has none. */
export const sawStream = (state: Connection | undefined): void => streamed.set(state)

/** The stream of the page is lost, and the client reconnects. */
export const lostStream = (): void => {
  const stream = streamed.get()
  if (stream?.state !== "reconnecting") sawStream({ state: "reconnecting", since: Date.now() })
}
