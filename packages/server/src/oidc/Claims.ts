import { type RankedRole, type Role, rankedRoles } from "@runplane/api"

/** What a token says about its holder, as JSON gave it. */
export type Claims = Readonly<Record<string, unknown>>

/** Longest name of a caller, in characters; OpenID Connect bounds `sub` to this. */
const MAX_NAME_LENGTH = 255

/** Control and format characters, line separators and halves of surrogate pairs: names with them can look alike. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

const isObject = (value: unknown): value is Claims =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/**
 * The value of a claim: the member of exactly this name, since names of claims may be addresses with dots in them, else
 * the way that the dots lead through objects (`realm_access.roles`).
 */
export const claimAt = (claims: Claims, name: string): unknown =>
  memberOf(claims, name) ?? name.split(".").reduce<unknown>(memberOf, claims)

/** The texts that a claim holds: as a text, as words of a text, or as texts of a list. */
const textsOf = (claims: Claims, name: string): ReadonlyArray<unknown> => {
  const value = claimAt(claims, name)
  return typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : []
}

/** The highest role that a claim holds. Other texts are groups of other services, and mean nothing here. */
export const roleOf = (claims: Claims, name: string): RankedRole | undefined => {
  const claimed = textsOf(claims, name)
  return rankedRoles.findLast((role) => claimed.includes(role))
}

/** Whether a claim holds the role `voter`, which is beside the order of the others. */
export const isVoterOf = (claims: Claims, name: string): boolean => textsOf(claims, name).includes("voter")

/** The most groups of a holder that are read. */
const MAX_GROUPS = 200

/** The groups that a claim names. */
export const groupsOf = (claims: Claims, name: string): ReadonlyArray<string> =>
  textsOf(claims, name).filter(isName).slice(0, MAX_GROUPS)

/** The claim of a token that an agent presents to the runtime. */
const AGENT_CLAIM = "macp_scopes"

export const isAgentOf = (claims: Claims): boolean => Object.hasOwn(claims, AGENT_CLAIM)

/** When the holder signed in at the issuer, Unix milliseconds. */
export const signedInAtOf = ({ auth_time: seconds }: Claims): number | undefined =>
  typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined

/** What claims say about their holder, as an actor has it. */
export interface Held {
  /** Undefined: the holder may do nothing here. */
  readonly role: Role | undefined
  readonly isVoter: boolean
  readonly groups: ReadonlyArray<string>
  readonly isAgent: boolean
  readonly signedInAtUnixMs: number | undefined
}

/** Reads the rights of a holder from the claims of these names. */
export const heldIn = (claims: Claims, names: { readonly role: string; readonly groups: string }): Held => {
  const isVoter = isVoterOf(claims, names.role)
  return {
    role: roleOf(claims, names.role) ?? (isVoter ? "voter" : undefined),
    isVoter,
    groups: groupsOf(claims, names.groups),
    isAgent: isAgentOf(claims),
    signedInAtUnixMs: signedInAtOf(claims)
  }
}

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME_LENGTH && !UNPRINTABLE.test(value)

/** Who the holder is: the subject, which the issuer never gives to another holder. Undefined when it is not usable. */
export const subjectOf = ({ sub }: Claims): string | undefined => (isName(sub) ? sub : undefined)

/**
 * The name under which people know the holder: the user name, else the mail address. An `email_verified` other than
 * `true` leaves the address out, the text "true" included. Names are shown; only the subject identifies a holder.
 */
export const nameOf = (claims: Claims): string | undefined => {
  const isVerified = !Object.hasOwn(claims, "email_verified") || claims["email_verified"] === true
  return [claims["preferred_username"], isVerified ? claims["email"] : undefined].find(isName)
}
