import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { roles } from "../caller/Access.ts"
import { actorTypes } from "../middleware/Authorization.ts"
import { operation, tag } from "../openapi/Describe.ts"

/** Who the caller is. */
export const Me = Schema.Struct({
  id: Field.text(
    "The actor as audit entries and owners hold it: name of the key, or `user:` and the subject of the token; anonymous " +
      "without authentication",
    "ops"
  ),
  name: Field.text("The name for readers: the same, but `user:` and the name of the token's holder", "ops"),
  type: Schema.Literals(actorTypes).annotate({ description: "How the caller is identified" }),
  role: Schema.Literals(roles).annotate({
    description:
      "What the caller may do: ingest sends telemetry, viewer reads, operator acts on runs, admin does everything, " +
      "voter answers questions to people and does nothing else"
  }),
  isVoter: Schema.optionalKey(
    Field.flag(
      "true for a caller that answers questions to people by the role voter, which a token may give beside another " +
        "role; absent for others"
    )
  ),
  runtimeIdentity: Schema.optionalKey(
    Field.text(
      "The identity of the control plane at the runtime, where its settings name one: a session that does not let it " +
        "commit cannot be cancelled, suspended or resumed by it",
      "macp-control-plane"
    )
  )
}).annotate({ identifier: "Me", description: "The caller as the service sees it" })
export type Me = typeof Me.Type

/** The caller (docs/reference/http.md#roles); the same on both services. */
export class MeGroup extends HttpApiGroup.make("me")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: Me }).annotateMerge(
      operation({
        id: "getMe",
        access: "any",
        summary: "Read the identity and the role of the caller",
        description:
          "The name and the role of the key or of the token's holder, whatever its role. Without configured keys and without an issuer every " +
          "caller is `anonymous`, with every right."
      })
    )
  )
  .annotateMerge(tag("Caller", "The caller and its role")) {}
