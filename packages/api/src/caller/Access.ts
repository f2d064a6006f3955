import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"

/** The roles of callers, the lowest first (docs/reference/http.md#roles). */
export const roles = ["ingest", "viewer", "operator", "admin"] as const

/**
 * `ingest` sends telemetry, `viewer` reads, `operator` does both and acts on runs, `admin` does everything. `ingest`
 * reads nothing, so a viewer may not do what it does.
 */
export type Role = (typeof roles)[number]

/** The access that an endpoint requires; `public` needs no key and is not counted, `any` needs a key of any role. */
export type Access = Role | "any" | "public"

/** The access of an endpoint; `operation` annotates it. */
export const RequiredAccess = Context.Reference<Access | undefined>("runplane/api/RequiredAccess", {
  defaultValue: () => undefined
})

/** Whether an endpoint also takes a ticket for its run in place of a key (docs/reference/http.md#tickets). */
export const TakesTicket = Context.Reference<boolean>("runplane/api/TakesTicket", { defaultValue: () => false })

interface Annotated {
  readonly annotations: Context.Context<never>
}

/** The access that an endpoint requires: administrators, unless it declares another. */
export const accessOf = ({ annotations }: Annotated): Access => Context.get(annotations, RequiredAccess) ?? "admin"

export const takesTicket = ({ annotations }: Annotated): boolean => Context.get(annotations, TakesTicket)

/** Whether a caller of this role may use an endpoint. */
export const mayUse = (role: Role, access: Access): boolean => {
  if (access === "public" || access === "any") return true
  return access === "ingest" ? role !== "viewer" : roles.indexOf(role) >= roles.indexOf(access)
}

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
