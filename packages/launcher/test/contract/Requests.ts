import { errorBody, type Statement } from "./Contract.ts"

export const FULL_REF = "demo/full@1.0.0"
export const FULL_FILE = "demo/scenarios/full/1.0.0/scenario.yaml"

/** A request for `POST /launch/compile`; of a body only what differs from one that passes, or a whole text. */
export const compile = (says: string, body: unknown, over: Partial<Statement> = {}): Statement => ({
  says,
  method: "POST",
  path: "/launch/compile",
  body:
    typeof body === "object" && !Array.isArray(body)
      ? { scenarioRef: FULL_REF, inputs: { customer: "C-7" }, ...body }
      : body,
  status: 201,
  ...over
})

/** That request answered with one of the service's own errors. */
export const refused = (status: number, errorCode: string, message: string | RegExp, metadata?: unknown) => ({
  status,
  answer: errorBody(status, errorCode, message, metadata)
})

/**
 * A request for `POST /examples/run` of a scenario of the pack `cast`; of a body only what differs from one that
 * passes.
 */
export const run = (
  says: string,
  slug: string,
  over: Partial<Statement> & { readonly with?: object } = {}
): Statement => {
  const { with: changes, ...rest } = over
  return {
    says,
    method: "POST",
    path: "/examples/run",
    body: { scenarioRef: `cast/${slug}@1.0.0`, inputs: {}, ...changes },
    status: 201,
    ...rest
  }
}
