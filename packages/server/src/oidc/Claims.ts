import { type Role, roles } from "@runplane/api"

/** What a token says about its holder, as JSON gave it. */
export type Claims = Readonly<Record<string, unknown>>

/** Longest name of a caller, in characters; OpenID Connect bounds `sub` to this. */
const MAX_NAME_LENGTH = 255

/** Control characters, line separators and halves of surrogate pairs: they have no place in a record or a log line. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

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
  const held = typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : []
  return roles.findLast((role) => held.includes(role))
}

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME_LENGTH && !UNPRINTABLE.test(value)

/**
 * What records call the holder: the name that people know, else the mail address unless the issuer says that it is
 * not verified, else the subject. Undefined when none of them can stand in a record.
 */
export const nameOf = (claims: Claims): string | undefined =>
  [claims["preferred_username"], claims["email_verified"] === false ? undefined : claims["email"], claims["sub"]].find(
    isName
  )
