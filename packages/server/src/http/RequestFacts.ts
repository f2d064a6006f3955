import type { Actor } from "@runplane/api"
import * as Context from "effect/Context"

/** A caller as records name it. */
export type KnownActor = Pick<Actor, "actorId" | "actorType" | "name">

/** A program that acts for the caller, as it names itself: an assistant with `via: "mcp"`, its name and its version. */
export interface Via {
  readonly via: "mcp"
  readonly client: string
  readonly clientVersion?: string
}

const VIA = /^mcp ([\x21-\x7e]{1,120})$/

/** The program that a request names in `x-runplane-via`; undefined without one. */
export const viaOf = (header: string | undefined): Via | undefined => {
  const [, named] = VIA.exec(header ?? "") ?? []
  if (named === undefined) return undefined
  const slash = named.lastIndexOf("/")
  return slash <= 0
    ? { via: "mcp", client: named }
    : { via: "mcp", client: named.slice(0, slash), clientVersion: named.slice(slash + 1) }
}

/** What becomes known of a request while it is answered: for the access log, the audit log and turns by caller. */
export interface Facts {
  /** The caller that the request counts for: the actor of a key or token, else the network of its address. */
  client: string
  /** The caller that a key, a token or a ticket proves; undefined for a caller without one. */
  actor: KnownActor | undefined
  /** The client's address as docs/reference/http.md#client-address names it; empty outside of a request. */
  readonly address: string
  /** The program that acts for the caller; undefined for requests of the caller itself. */
  readonly via?: Via | undefined
}

/** The facts of the current request; the edge gives each its own. */
export const RequestFacts = Context.Reference<Facts>("runplane/server/RequestFacts", {
  defaultValue: () => ({ client: "", actor: undefined, address: "" })
})
