import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { UuidParam } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { Delegation, DelegationLists, DelegationRequest } from "./Delegations.ts"

const id = { id: UuidParam }

const NONCE = "5f2b0c9d6a1e4873b2c5d8f09e7a6b1c3d4e5f60718293a4b5c6d7e8f9001122"

/** Sent with a cookie: a page of another site knows neither. */
const writeHeaders = {
  "x-page-nonce": Schema.optionalKey(
    Field.text("`nonce` of the list; required of a caller that is known by its cookie", NONCE)
  )
}

/** The delegations of the caller (docs/reference/people.md#delegation). */
export class DelegationGroup extends HttpApiGroup.make("delegations")
  .add(
    HttpApiEndpoint.get("list", "/people/me/delegations", {
      success: DelegationLists,
      error: [Failure.PersonForbidden, Failure.InboxDatabaseAway, Failure.NoPeopleDatabase, Failure.InvalidPackData]
    }).annotateMerge(
      operation({
        id: "listDelegations",
        access: "operator",
        takesVoters: true,
        summary: "List the delegations of the caller",
        description: "Those that the caller has given and those that it has received, also the ones that are over."
      })
    ),
    HttpApiEndpoint.post("create", "/people/me/delegations", {
      headers: writeHeaders,
      payload: bodySchema(DelegationRequest, { unknownKeys: "reject" }),
      success: Delegation.pipe(HttpApiSchema.status(201)),
      error: [
        Failure.InvalidDelegation,
        Failure.PersonForbidden,
        Failure.DelegationsFull,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "createDelegation",
        access: "operator",
        takesVoters: true,
        summary: "Delegate the answers of the caller",
        description:
          "Another person may answer what the caller may answer by itself, for at most 90 days. The caller may still " +
          "answer, a delegate passes nothing on, and the first answer counts."
      })
    ),
    HttpApiEndpoint.delete("revoke", "/people/me/delegations/:id", {
      params: id,
      headers: writeHeaders,
      success: Delegation,
      error: [
        Failure.PersonForbidden,
        Failure.DelegationNotFound,
        Failure.DelegationOver,
        Failure.InboxDatabaseAway,
        Failure.NoPeopleDatabase,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "revokeDelegation",
        access: "operator",
        takesVoters: true,
        summary: "Revoke a delegation",
        description: "Ends a delegation of the caller now. Answers that were given by it stay."
      })
    )
  )
  .annotateMerge(tag("Delegations", "Who may answer for the caller")) {}
