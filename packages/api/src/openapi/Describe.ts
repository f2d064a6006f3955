import * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"
import { type Access, RequiredAccess, TakesTicket } from "../caller/Access.ts"

/** Names the failures of an operation for `errorResponses`; not in the finished document. */
export const FAILURES = "x-failures"

/** Says in the document which role an operation needs. */
export const REQUIRED_ROLE = "x-required-role"

export interface OperationDescription {
  /** What clients call the operation: part of the contract, as its path is. */
  readonly id: string
  /** What callers need: `viewer` reads, `operator` acts on runs, `admin` does the rest; `public` asks nobody. */
  readonly access: Access
  /** Whether a ticket for the run will do in place of a key. */
  readonly takesTicket?: boolean
  readonly summary: string
  readonly description: string
  /**
   * The ways in which it can fail, by their names in the document, which knows no others. Those that follow from its
   * form go without saying: key, budget, input, and faults of the service.
   */
  readonly failures?: ReadonlyArray<string>
  readonly deprecated?: boolean
}

/**
 * The ways in which a call of the runtime can fail, for operations that make one
 * (docs/reference/errors.md#runtime-errors).
 */
export const runtimeFailures = [
  "RuntimeRefusedArgument",
  "RuntimeRefusedService",
  "RuntimeForbids",
  "RuntimeKnowsNoSuchThing",
  "RuntimeConflict",
  "RuntimeLimit",
  "RuntimeFault",
  "RuntimeLacksOperation",
  "RuntimeUnavailable",
  "CircuitBreakerOpen",
  "RuntimeTimeout"
] as const

/** Describes an endpoint. */
export const operation = (text: OperationDescription): Context.Context<never> =>
  OpenApi.annotations({
    identifier: text.id,
    summary: text.summary,
    description: text.description,
    deprecated: text.deprecated,
    transform: (operation) => ({ ...operation, [REQUIRED_ROLE]: text.access, [FAILURES]: text.failures ?? [] })
  }).pipe(Context.add(RequiredAccess, text.access), Context.add(TakesTicket, text.takesTicket === true))

/**
 * Names the group of endpoints for readers. Groups of the same name stand under one heading, described by one of them.
 */
export const tag = (title: string, description?: string): Context.Context<never> =>
  OpenApi.annotations({ title, description })
