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
  /** The service refuses the stream of the page. */
  | { readonly state: "failed" }
  | { readonly state: "unreachable" }

const reached = makeStore(true)
const streamed = makeStore<Connection | undefined>(undefined)
export const connection = makeStore<Connection>({ state: "polling" })

const update = () => {
  const stream = streamed.get()
  const isOpen = stream !== undefined && stream.state !== "complete"
  connection.set(isOpen || reached.get() ? (stream ?? { state: "polling" }) : { state: "unreachable" })
}
reached.subscribe(update)
streamed.subscribe(update)

/** Whether the last call got an answer. */
export const sawAnswer = (answered: boolean): void => reached.set(answered)

/** The stream of the page; undefined when it has none. */
export const sawStream = (state: Connection | undefined): void => streamed.set(state)

/** The stream of the page is lost, and the client reconnects. */
export const lostStream = (): void => {
  const stream = streamed.get()
  if (stream?.state !== "reconnecting") sawStream({ state: "reconnecting", since: Date.now() })
}
