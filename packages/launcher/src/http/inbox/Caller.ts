import { type Actor, isVoter, mayUse } from "@runplane/api"
import type { Person } from "@runplane/domain"
import { isLoopback } from "@runplane/server"
import * as Context from "effect/Context"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { SignedIn } from "../../people/Answers.ts"

/** The person of a service that requires no sign-in. */
export const LOCAL = "local"

const USER = "user:"

/** How a request came in, beside who sent it. */
interface Arrival {
  /** Whether an assistant acts for the caller. */
  readonly isAssistant: boolean
  /** The groups that the directories of packs give to the person. */
  readonly packGroups: Person["packGroups"]
  readonly headers: HttpServerRequest.HttpServerRequest["headers"]
}

/** A caller as a person. */
export interface Caller {
  readonly person: SignedIn
  /** Why it answers and returns nothing, whatever it is assigned to. */
  readonly mayNot: string | undefined
  /** Whether it may read the items of all people. */
  readonly readsAll: boolean
}

const channelOf = ({ isPage }: Actor, headers: Arrival["headers"]): string => {
  // Browsers send this header with each request, and programs do not.
  if (isPage === true || headers["sec-fetch-site"] !== undefined) return "console"
  return headers["x-runplane-channel"] === "cli" ? "cli" : "api"
}

const whyNot = (actor: Actor, { isAssistant }: Arrival): string | undefined => {
  if (actor.isAgent === true) return "an agent never answers for a person"
  if (isAssistant) return "an assistant never answers for a person"
  return isVoter(actor) || mayUse(actor.role, "operator")
    ? undefined
    : `the role ${actor.role} reads questions, and answers none`
}

/** The stable id of a caller as a person: the subject of its token, or the name of its key. */
export const personIdOf = ({ actorId, actorType }: Actor): string => {
  if (actorType === "anonymous") return LOCAL
  return actorType === "user" ? actorId.slice(USER.length) : actorId
}

/** The person that a caller is. */
export const callerOf = (actor: Actor, arrival: Arrival): Caller => {
  const { actorType, groups = [], role } = actor
  const isLocal = actorType === "anonymous"
  return {
    person: {
      id: personIdOf(actor),
      groups,
      packGroups: arrival.packGroups,
      ...(isLocal && { isLocal }),
      proof: isLocal ? "none" : "session",
      // Tokens of programs are kept in files and are sent again: only the browser of the person proves a sign-in.
      ...(actor.isPage === true && { signedInAtUnixMs: actor.signedInAtUnixMs }),
      channel: channelOf(actor, arrival.headers),
      // The console shows runs to these roles.
      readsRuns: mayUse(role, "viewer")
    },
    mayNot: whyNot(actor, arrival),
    readsAll: mayUse(role, "viewer")
  }
}

/** The host that the service listens on. */
export const ListenHost = Context.Reference<string>("runplane/launcher/ListenHost", { defaultValue: () => "" })

/** Why a service without sign-in has no person: its callers may be anywhere. */
export const noLocalPerson = (host: string): string | undefined =>
  isLoopback(host)
    ? undefined
    : "a service without keys and without an issuer knows no person, unless it listens on the loopback"
