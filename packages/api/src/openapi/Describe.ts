import * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"
import { type Access, RequiredAccess, TakesTicket, TakesVoters } from "../caller/Access.ts"

/** Says in the document which role an operation needs. */
export const REQUIRED_ROLE = "x-required-role"

/** Says in the document that the role `voter` may use an operation too. */
export const ALSO_VOTERS = "x-also-voters"

export interface OperationDescription {
  /** What clients call the operation: part of the contract, as its path is. */
  readonly id: string
  /**
   * The role that callers need: `ingest` sends telemetry, `viewer` reads, `operator` acts on runs, `admin` does the
   * rest; `any` needs a key of any role, `public` no key.
   */
  readonly access: Access
  /** Whether a ticket for the run will do in place of a key. */
  readonly takesTicket?: boolean
  /** Whether the role `voter`, which is beside the order of the others, will do. */
  readonly takesVoters?: boolean
  readonly summary: string
  readonly description: string
  readonly deprecated?: boolean
}

/** Describes an endpoint. */
export const operation = (text: OperationDescription): Context.Context<never> =>
  OpenApi.annotations({
    identifier: text.id,
    summary: text.summary,
    description: text.description,
    deprecated: text.deprecated,
    transform: (operation) => ({
      ...operation,
      [REQUIRED_ROLE]: text.access,
      ...(text.takesVoters === true && { [ALSO_VOTERS]: true })
    })
  }).pipe(
    Context.add(RequiredAccess, text.access),
    Context.add(TakesTicket, text.takesTicket === true),
    Context.add(TakesVoters, text.takesVoters === true)
  )

/**
 * Names the group of endpoints for readers. Groups of the same name share one heading, described by one of them.
 */
export const tag = (title: string, description?: string): Context.Context<never> =>
  OpenApi.annotations({ title, description })
