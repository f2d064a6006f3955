import { makeStore } from "../view/Store.ts"

/** The state of the connection, which the sidebar shows. */
export type Connection =
  /** A stream is open and everything up to `complete` was received. */
  | { readonly state: "live"; readonly complete: number }
  | { readonly state: "catching-up"; readonly behind: number }
  | { readonly state: "reconnecting" }
  /** The run has ended and all of its events are loaded. */
  | { readonly state: "complete"; readonly complete: number }
  /** The page polls every few seconds. */
  | { readonly state: "polling" }
  | { readonly state: "unreachable" }

const reached = makeStore(true)
const streamed = makeStore<Connection | undefined>(undefined)
export const connection = makeStore<Connection>({ state: "polling" })

const update = () => {
  const stream = streamed.get()
  connection.set(stream ?? (reached.get() ? { state: "polling" } : { state: "unreachable" }))
}
reached.subscribe(update)
streamed.subscribe(update)

/** Whether the last call got an answer. */
export const sawAnswer = (answered: boolean): void => reached.set(answered)

/** The stream of the page; undefined when it has none. */
export const sawStream = (state: Connection | undefined): void => streamed.set(state)
