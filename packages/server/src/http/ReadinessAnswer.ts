import * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * The answer of `/readyz`: 200, and 503 to a strict probe while something does not work
 * (docs/reference/admin.md#readiness).
 */
export const readinessAnswer = (
  found: { readonly ok: boolean },
  { stopping, strict }: { readonly strict?: string | ReadonlyArray<string>; readonly stopping: boolean }
): HttpServerResponse.HttpServerResponse => {
  const answer = stopping ? { ...found, status: "degraded", ok: false, stopping } : found
  const isStrict = (typeof strict === "string" ? strict : strict?.at(-1)) === "true"
  return HttpServerResponse.jsonUnsafe(answer, { status: isStrict && !answer.ok ? 503 : 200 })
}
