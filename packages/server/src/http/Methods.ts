import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"

/** The methods of a path that has endpoints; empty for every other path. */
export type MethodsOf = (path: string) => ReadonlyArray<string>

const SPECIAL = /[.*+?^${}()|[\]\\]/g

/** The paths that a template like `/runs/:id` matches in the router: with and without a last slash. */
const patternOf = (template: string) =>
  new RegExp(`^${template.replace(SPECIAL, "\\$&").replace(/:[A-Za-z]+/g, "[^/]+")}/?$`)

/**
 * Returns the methods of the paths of a contract, for the answer to another one (docs/reference/errors.md#error-texts).
 * HEAD is answered wherever GET is, OPTIONS everywhere.
 */
export const methodsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): MethodsOf => {
  const byTemplate = new Map<string, Set<string>>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const methods = byTemplate.get(endpoint.path) ?? new Set(["OPTIONS"])
      methods.add(endpoint.method)
      if (endpoint.method === "GET") methods.add("HEAD")
      byTemplate.set(endpoint.path, methods)
    }
  })
  const routes = [...byTemplate].map(([template, methods]) => ({ pattern: patternOf(template), methods }))
  return (path) => {
    const found = new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))
    return [...found].sort()
  }
}
