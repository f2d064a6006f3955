import type { Actor } from "@runplane/api"
import * as Context from "effect/Context"

/** A caller as records name it. */
export type KnownActor = Pick<Actor, "actorId" | "actorType" | "name">

/** What becomes known of a request while it is answered: for the access log, the audit log and turns by caller. */
export interface Facts {
  /** The caller that the request counts for: the actor of a key or token, else the network of its address. */
  client: string
  /** The caller that a key, a token or a ticket proves; undefined for a caller without one. */
  actor: KnownActor | undefined
  /** The client's address as docs/reference/http.md#client-address names it; empty outside of a request. */
  readonly address: string
}

/** The facts of the current request; the edge gives each its own. */
export const RequestFacts = Context.Reference<Facts>("runplane/server/RequestFacts", {
  defaultValue: () => ({ client: "", actor: undefined, address: "" })
})
