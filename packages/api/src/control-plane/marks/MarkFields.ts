import { MarkSource, MarkTargetKind } from "@runplane/domain"
import { type DescribedField, fast, slow, time } from "../query/DescribedField.ts"

/** The marks of a run, as a field of its searches. */
export const markOfRun: DescribedField = {
  name: "mark",
  type: "value",
  dotted: true,
  hasAny: true,
  ...fast,
  description: "Value of a current mark, by its name; has:mark finds any"
}

/** The marks of an event, as a field of its searches. */
export const markOfEvent: DescribedField = {
  name: "mark",
  type: "value",
  dotted: true,
  hasAny: true,
  ...slow,
  description: "Value of a current mark of the event, by its name; has:mark finds any"
}

/** The fields of `GET /marks?q=`, by the names of the mark. */
export const markQueryFields: ReadonlyArray<DescribedField> = [
  { name: "name", type: "keyword", ...fast, description: "Name of the mark" },
  { name: "value", type: "value", ...fast, description: "Its number, flag or category" },
  { name: "run", type: "uuid", ...fast, description: "Id of its run" },
  { name: "createdAt", ...time, ...fast, description: "When it was added" },
  { name: "id", type: "uuid", ...fast, description: "Id of the mark" },
  { name: "source", type: "keyword", values: MarkSource.literals, ...slow, description: "Kind of its author" },
  { name: "kind", type: "keyword", values: MarkTargetKind.literals, ...slow, description: "What it judges" },
  { name: "target", type: "keyword", ...slow, description: "Participant id or event id of what it judges" },
  { name: "index", type: "number", ...slow, description: "Index of the event that it judges" },
  { name: "author", type: "keyword", ...slow, description: "Caller that added it" },
  { name: "authorName", type: "keyword", ...slow, description: "`user:` and the name in the token of its author" },
  { name: "judge", type: "keyword", ...slow, description: "Name of its judge" },
  { name: "model", type: "keyword", ...slow, description: "Model of its judge" },
  { name: "promptHash", type: "keyword", ...slow, description: "Hash of the prompt of its judge" },
  { name: "comment", type: "text", ...slow, description: "Its whole comment; a word finds a part of it" }
]
