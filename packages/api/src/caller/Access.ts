import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"

/** The roles of callers in their order, the lowest first (docs/reference/http.md#roles). */
export const rankedRoles = ["ingest", "viewer", "operator", "admin"] as const

/** The roles of callers. `voter` is beside the order of the others. */
export const roles = [...rankedRoles, "voter"] as const

/**
 * `ingest` sends telemetry, `viewer` reads, `operator` does both and acts on runs, `admin` does everything. `ingest`
 * reads nothing, so a viewer may not do what it does. `voter` answers questions to people, and does nothing else.
 */
export type Role = (typeof roles)[number]
export type RankedRole = (typeof rankedRoles)[number]

/** The access that an endpoint requires; `public` needs no key and is not counted, `any` needs a key of any role. */
export type Access = RankedRole | "any" | "public"

/** The access of an endpoint; `operation` annotates it. */
export const RequiredAccess = Context.Reference<Access | undefined>("runplane/api/RequiredAccess", {
  defaultValue: () => undefined
})

/** Whether an endpoint also takes a ticket for its run in place of a key (docs/reference/http.md#tickets). */
export const TakesTicket = Context.Reference<boolean>("runplane/api/TakesTicket", { defaultValue: () => false })

/** Whether voters may use an endpoint, whatever its access. */
export const TakesVoters = Context.Reference<boolean>("runplane/api/TakesVoters", { defaultValue: () => false })

interface Annotated {
  readonly annotations: Context.Context<never>
}

/** The access that an endpoint requires: administrators, unless it declares another. */
export const accessOf = ({ annotations }: Annotated): Access => Context.get(annotations, RequiredAccess) ?? "admin"

export const takesTicket = ({ annotations }: Annotated): boolean => Context.get(annotations, TakesTicket)

export const takesVoters = ({ annotations }: Annotated): boolean => Context.get(annotations, TakesVoters)

/** Whether a caller of this role may use an endpoint of this access. */
export const mayUse = (role: Role, access: Access): boolean => {
  if (access === "public" || access === "any") return true
  if (role === "voter") return false
  return access === "ingest" ? role !== "viewer" : rankedRoles.indexOf(role) >= rankedRoles.indexOf(access)
}

/** What of a caller decides what it may do. */
export interface Roles {
  readonly role: Role
  /** Whether the role `voter` is held as well. */
  readonly isVoter?: boolean | undefined
}

export const isVoter = ({ isVoter, role }: Roles): boolean => role === "voter" || isVoter === true

/** Whether a caller may call an endpoint. */
export const mayCall = (caller: Roles, endpoint: Annotated): boolean =>
  mayUse(caller.role, accessOf(endpoint)) || (takesVoters(endpoint) && isVoter(caller))

/** The endpoints that do not say which role they need, as `GET /path`: a service with one must not start. */
export const withoutAccess = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<string> => {
  const missing: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      if (Context.get(endpoint.annotations, RequiredAccess) === undefined) {
        missing.push(`${endpoint.method} ${endpoint.path}`)
      }
    }
  })
  return missing
}
