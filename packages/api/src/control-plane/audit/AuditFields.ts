import { type DescribedField, fast, slow, time } from "../query/DescribedField.ts"

/** The fields of `GET /audit?q=`, by the names of the entry. */
export const auditQueryFields: ReadonlyArray<DescribedField> = [
  { name: "actor", type: "keyword", ...fast, description: "Who did it" },
  { name: "action", type: "keyword", ...fast, description: "What was done" },
  { name: "resource", type: "keyword", ...fast, description: "Kind of the thing it was done to" },
  { name: "resourceId", type: "keyword", ...fast, description: "Id of that thing" },
  { name: "createdAt", ...time, ...fast, description: "When it was done" },
  { name: "id", type: "uuid", ...fast, description: "Id of the entry" },
  { name: "actorType", type: "keyword", ...slow, description: "What the actor is: api-key, user, rule or anonymous" },
  { name: "actorName", type: "keyword", ...slow, description: "`user:` and the name in the token" },
  { name: "clientAddress", type: "keyword", ...slow, description: "Address of the client" },
  { name: "requestId", type: "keyword", ...slow, description: "X-Request-Id of the request" },
  {
    name: "outcome",
    type: "keyword",
    values: ["succeeded", "accepted", "refused"],
    ...slow,
    description: "What became of it"
  },
  { name: "details", type: "text", dotted: true, ...slow, description: "A text, number or flag of the details" }
]
