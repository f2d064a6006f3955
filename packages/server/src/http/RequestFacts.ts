import * as Context from "effect/Context"

/** What becomes known of a request while it is answered: for the access log, and for turns by caller. */
export interface Facts {
  /** Who is counted for the request: the actor of a key or token, else the network of its address. */
  client: string
  /** The name of the caller's key, or of the holder of its token; undefined for a caller without one. */
  keyName: string | undefined
}

/** The facts of the current request; the edge gives each its own. */
export const RequestFacts = Context.Reference<Facts>("runplane/server/RequestFacts", {
  defaultValue: () => ({ client: "", keyName: undefined })
})
