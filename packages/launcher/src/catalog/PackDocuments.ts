import { isMailAddress, PeopleText, TurnsText } from "@runplane/domain"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { InvalidPackData } from "../common/LaunchErrors.ts"

/** The only `apiVersion` of pack files. */
const PACK_API_VERSION = "scenarios.macp.dev/v1"

/** Longest session that the runtime accepts, ms. */
export const MAX_TTL_MS = 86_400_000

const optional = Schema.optionalKey
const Text = Schema.NonEmptyString
const Tags = Schema.Array(Schema.String)

/** `pack.yaml`. */
export const PackDocument = Schema.Struct({
  metadata: Schema.Struct({
    slug: Text,
    name: optional(Schema.String),
    description: optional(Schema.String),
    tags: optional(Tags)
  })
})
export type PackDocument = typeof PackDocument.Type

const Id = Schema.String.check(Schema.isPattern(/^[^\s{}]+$/, { expected: "an id without spaces and braces" }))

const Email = Schema.String.check(
  Schema.makeFilter((text: string) => isMailAddress(text), { expected: "an address such as ana@example.org" })
)

const SlackMember = Schema.String.check(
  Schema.isPattern(/^[UW][A-Z0-9]{2,20}$/, { expected: "a member id of Slack such as U012AB3CD" })
)

const DirectoryPerson = Schema.Struct({
  name: optional(Schema.String),
  groups: optional(Schema.Array(Id)),
  email: optional(Email),
  slack: optional(SlackMember),
  /** Without a sign-in: the person answers by links that are sent to `email`, with codes that are sent to `code`. */
  link: optional(Schema.Literal("personal")),
  code: optional(Email)
})

/** What is wrong with how a person gets a link and its codes: two ways, and no third one. */
const linkFault = ({ code, email, link, slack }: typeof DirectoryPerson.Type) => {
  if (link === undefined) return code === undefined ? undefined : { path: ["code"], issue: "needs link: personal" }
  if (email === undefined) return { path: ["email"], issue: "is required by link: personal, which is sent to it" }
  if (code === undefined) return { path: ["code"], issue: "is required by link: personal, whose codes are sent to it" }
  if (code.toLowerCase() === email.toLowerCase()) {
    return { path: ["code"], issue: "must be another address than email: who has the link would get its codes" }
  }
  return slack === undefined ? undefined : { path: ["link"], issue: "a person with a member id answers in Slack" }
}

/** `people.yaml`: the people of a pack, by their stable ids. */
export const PeopleDocument = Schema.Struct({
  people: Schema.Record(Id, DirectoryPerson.check(Schema.makeFilter(linkFault)))
})
export type PeopleDocument = typeof PeopleDocument.Type

export const RuntimeBlock = Schema.Struct({ kind: Text, version: optional(Schema.String) })
export type RuntimeBlock = typeof RuntimeBlock.Type

export const Participant = Schema.Struct({ id: Text, role: Schema.String, agentRef: Text })
export type Participant = typeof Participant.Type

/** An agent that is tried beside a participant (docs/reference/shadows.md). */
export const Shadow = Schema.Struct({ as: Text, agent: Text })

/** One entry of `launch.kickoffTemplate`; only the keys that have an effect. */
export const KickoffEntry = Schema.Struct({
  from: optional(Text),
  kind: optional(Schema.Literals(["request", "broadcast", "proposal", "context"])),
  messageType: optional(Text),
  payload: optional(Schema.JsonObject),
  payloadEnvelope: optional(
    Schema.Struct({
      json: optional(Schema.JsonObject),
      proto: optional(Schema.Struct({ typeName: optional(Text), value: optional(Schema.JsonObject) }))
    })
  )
})
export type KickoffEntry = typeof KickoffEntry.Type

/** `spec.launch` after a template has been merged over it. */
export const LaunchBlock = Schema.Struct({
  modeName: Text,
  modeVersion: Text,
  configurationVersion: Text,
  policyVersion: optional(Text),
  policyHints: optional(Schema.JsonObject),
  ttlMs: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_TTL_MS })),
  maxSuspendMs: optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  initiatorParticipantId: optional(Text),
  participants: Schema.Array(Participant),
  contextTemplate: optional(Schema.JsonObject),
  contextId: optional(Schema.String),
  // Its shape is the launch's own concern: a wrong one is COMPILATION_ERROR, not INVALID_PACK_DATA.
  extensions: optional(Schema.Json),
  // Raw, because every text of every entry is interpolated before an entry means anything.
  kickoffTemplate: optional(Schema.Array(Schema.JsonObject)),
  metadataTemplate: optional(Schema.JsonObject),
  people: optional(PeopleText),
  a2a: optional(TurnsText),
  shadows: optional(Schema.Array(Shadow))
})
export type LaunchBlock = typeof LaunchBlock.Type

/** `spec.execution`. */
export const ExecutionBlock = Schema.Struct({
  idempotencyKey: optional(Schema.String),
  tags: optional(Tags),
  requester: optional(
    Schema.Struct({
      actorId: optional(Schema.String),
      actorType: optional(Schema.Literals(["user", "service", "system"]))
    })
  )
})
export type ExecutionBlock = typeof ExecutionBlock.Type

/** `scenario.yaml` without the blocks that templates may change, which stay raw until they are merged. */
export const ScenarioDocument = Schema.Struct({
  metadata: Schema.Struct({
    name: Text,
    summary: optional(Schema.String),
    tags: optional(Tags)
  }),
  spec: Schema.Struct({
    publish: optional(Schema.Literal("a2a")),
    runtime: optional(Schema.JsonObject),
    inputs: Schema.Struct({ schema: Schema.JsonObject }),
    launch: Schema.JsonObject,
    execution: optional(Schema.JsonObject),
    outputs: optional(Schema.Struct({ expectedDecisionKinds: optional(Tags), expectedSignals: optional(Tags) }))
  })
})
export type ScenarioDocument = typeof ScenarioDocument.Type

/** `spec` of a template file. */
export const TemplateSpec = Schema.Struct({
  defaults: optional(Schema.JsonObject),
  overrides: optional(
    Schema.Struct({
      runtime: optional(Schema.JsonObject),
      launch: optional(Schema.JsonObject),
      execution: optional(Schema.JsonObject)
    })
  )
})
export type TemplateSpec = typeof TemplateSpec.Type

/** Checks `apiVersion` and `kind`. */
export const checkHeader = (document: JsonObject, kind: string, file: string): Result.Result<void, InvalidPackData> => {
  if (document["apiVersion"] !== PACK_API_VERSION) {
    return refuse(file, `invalid apiVersion in ${file}: ${shown(document["apiVersion"])}`)
  }
  if (document["kind"] !== kind) {
    return refuse(file, `invalid kind in ${file}: expected ${kind}, got ${shown(document["kind"])}`)
  }
  return Result.void
}

export const decodePack = (document: JsonObject, file: string): Result.Result<PackDocument, InvalidPackData> => {
  const metadata = document["metadata"]
  const slug = isJsonObject(metadata) ? metadata["slug"] : undefined
  if (typeof slug !== "string" || slug === "") return refuse(file, `missing metadata.slug in ${file}`)
  return decodePart(PackDocument, document, file, "")
}

/**
 * Decodes one block of a pack file. `prefix` is where the block sits (`spec.launch.`), so that the message names the
 * key as the author wrote it.
 */
export const decodePart = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  value: Json,
  file: string,
  prefix: string
): Result.Result<S["Type"], InvalidPackData> =>
  Result.mapError(Schema.decodeUnknownResult(schema)(value), (error) => {
    const issue = formatIssues(error.issue).issues[0]
    const keys = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))
    const at = [...prefix.split(".").filter((part) => part !== ""), ...keys]
    const reason = issue?.message ?? "wrong shape"
    return new InvalidPackData({
      file,
      at,
      message: `invalid ${at.join(".")} in ${file}: ${reason}${remedyFor(valueAt(value, keys), reason)}`
    })
  })

/** A version such as 1.10, and an id such as 1234567e89, is a number to YAML. */
const remedyFor = (value: unknown, message: string) =>
  typeof value === "number" && message.startsWith("Expected string") ? ": put the number in quotes" : ""

const valueAt = (root: Json, keys: ReadonlyArray<string>): unknown => {
  let value: unknown = root
  for (const key of keys) value = Predicate.hasProperty(value, key) ? value[key] : undefined
  return value
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const refuse = (file: string, message: string) => Result.fail(new InvalidPackData({ file, message }))

const shown = (value: Json | undefined): string => (typeof value === "string" ? value : JSON.stringify(value ?? null))
