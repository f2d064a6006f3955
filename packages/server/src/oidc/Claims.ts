import { type Role, roles } from "@runplane/api"

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

/**
 * The highest role that a claim holds: as a text, as words of a text, or as texts of a list. Other texts are groups of
 * other services, and mean nothing here.
 */
export const roleOf = (claims: Claims, name: string): Role | undefined => {
  const value = claimAt(claims, name)
  const claimed = typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : []
  return roles.findLast((role) => claimed.includes(role))
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
