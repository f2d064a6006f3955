import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { UuidParam } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { EnrolmentChallenge, EnrolmentRequest, Passkey, Passkeys } from "./Passkeys.ts"

const NONCE = "5f2b0c9d6a1e4873b2c5d8f09e7a6b1c3d4e5f60718293a4b5c6d7e8f9001122"

const headers = {
  "x-page-nonce": Schema.optionalKey(
    Field.text("`nonce` of the list; required of a caller that is known by its cookie", NONCE)
  )
}

const away = [Failure.PersonForbidden, Failure.InboxDatabaseAway, Failure.NoPeopleDatabase, Failure.InvalidPackData]

const shared = { access: "viewer", takesVoters: true } as const

/** The passkeys of the caller (docs/reference/people.md#passkeys). */
export class PasskeysGroup extends HttpApiGroup.make("passkeys")
  .add(
    HttpApiEndpoint.get("list", "/people/me/passkeys", { success: Passkeys, error: away }).annotateMerge(
      operation({
        ...shared,
        id: "listPasskeys",
        summary: "List the own passkeys",
        description: "The passkeys of the caller that are not deleted, and whether another one can be enrolled now."
      })
    ),
    HttpApiEndpoint.post("begin", "/people/me/passkeys/challenges", {
      headers,
      success: EnrolmentChallenge,
      error: [Failure.SignInNotFresh, Failure.PasskeyRefused, ...away]
    }).annotateMerge(
      operation({
        ...shared,
        id: "beginPasskey",
        summary: "Begin the enrolment of a passkey",
        description:
          "Makes the challenge of a new passkey, once and within five minutes. It needs the cookie of a sign-in at the " +
          "issuer of the last five minutes."
      })
    ),
    HttpApiEndpoint.post("enrol", "/people/me/passkeys", {
      headers,
      payload: bodySchema(EnrolmentRequest, { unknownKeys: "reject" }),
      success: Passkey.pipe(HttpApiSchema.status(201)),
      error: [Failure.SignInNotFresh, Failure.PasskeyRefused, ...away]
    }).annotateMerge(
      operation({
        ...shared,
        id: "enrolPasskey",
        summary: "Enrol a passkey",
        description:
          "Stores a passkey of ES256 or RS256 that verified its person. It signs answers to questions that open later, and the " +
          "audit has it."
      })
    ),
    HttpApiEndpoint.delete("remove", "/people/me/passkeys/:id", {
      params: { id: UuidParam },
      headers,
      success: HttpApiSchema.NoContent,
      error: [Failure.PasskeyNotFound, ...away]
    }).annotateMerge(
      operation({
        ...shared,
        id: "deletePasskey",
        summary: "Delete a passkey",
        description:
          "Deletes a passkey of the caller: it signs nothing from now on. Answers that it has signed stay proved."
      })
    )
  )
  .annotateMerge(tag("Passkeys", "The passkeys of the caller, by which it signs answers")) {}
