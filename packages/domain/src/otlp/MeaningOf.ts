import type * as Schema from "effect/Schema"
import { boundPayload } from "../values/Bounds.ts"
import { cleanObject } from "../values/CleanJson.ts"
import { isJsonArray, isJsonObject } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { isHidden, jsonAt, jsonOf, nameAt, nameOf, numberAt, textsAt, withoutMethod } from "./AttributeValues.ts"
import type { Meaning, MeaningKind, RunClues, ToolMeaning } from "./Meaning.ts"
import { evaluationsOf, spanEvaluation, statementsOf } from "./meaning/Decisions.ts"
import { exceptionOf, statusFailure } from "./meaning/Failures.ts"
import { detailsOf, firstOf } from "./meaning/Families.ts"
import type { Kind, Named, Sides } from "./meaning/Family.ts"
import { contentOf, type SpanTexts, textsOf } from "./meaning/Messages.ts"
import { agentInText } from "./meaning/OwnTexts.ts"
import { costIn } from "./meaning/StatedCost.ts"
import { toolOutcome } from "./meaning/ToolOutcome.ts"
import { usageIn } from "./meaning/Usage.ts"
import { serviceTierIn, usageParts } from "./meaning/UsageParts.ts"
import { ATTRIBUTES, FRAMEWORKS, NEVER_COUNTED } from "./Names.ts"
import type { Attributes, LogRecord, Span } from "./Span.ts"

/** Characters of a span's name that are read. */
const MAX_SPAN_NAME = 512

/** What a span means (docs/reference/ingest.md#from-spans-to-events). Total over any attributes. */
export const meaningOf = (span: Span): Meaning => {
  const plain: Named = {
    name: span.name.slice(0, MAX_SPAN_NAME),
    attributes: withDetails(span),
    resource: span.resource,
    isRoot: span.parentSpanId === undefined
  }
  const named = { ...plain, attributes: { ...detailsOf(plain), ...plain.attributes } }
  const found = firstOf(({ kind }) => kind?.(named)) ?? byEvidence(named.attributes)
  const sides = firstOf(({ handoff }) => handoff?.(named, found.kind))
  const kind: Kind = sides === undefined ? found : { ...found, kind: "handoff" }
  const texts = textsOf(named.attributes, span.events)
  const tool = isTool(kind.kind) ? toolOf(named, texts) : undefined
  const outcome = tool === undefined ? undefined : toolOutcome(named.attributes, tool.result)
  const stated = statusFailure(span) ?? firstOf(({ failure }) => failure?.(named))
  const failure = outcome?.isRefused === true ? { ...stated, ...outcome.failure } : (stated ?? outcome?.failure)
  const exception = exceptionOf(span)
  const statements = span.events.flatMap(({ at, attributes, name }, index) =>
    statementsOf(name, { at, index }, attributes, undefined)
  )
  const evaluations = [
    ...span.events.flatMap(({ attributes, name }, index) => evaluationsOf(name, index, attributes)),
    ...(kind.kind === "evaluation" ? spanEvaluation(span) : [])
  ]
  const shared = common(named, kind, sides)
  return {
    ...shared,
    ...(statements.length === 0 && evaluations.length === 0 && unreadIn(named, { ...kind, kind: shared.kind })),
    ...(tool !== undefined && { tool: { ...tool, ...(outcome?.isRefused === true && { isRefused: true as const }) } }),
    ...texts,
    ...(failure !== undefined && { failure }),
    ...(exception !== undefined && { exception }),
    ...(statements.length > 0 && { statements }),
    ...(evaluations.length > 0 && { evaluations })
  }
}

/** What a log record says of its span, or of the run. Its messages are read where it is joined to its span. */
export const meaningOfLog = (log: LogRecord): Meaning => {
  const attributes = withBody(log)
  const named: Named = { name: log.name.slice(0, MAX_SPAN_NAME), attributes, resource: log.resource, isRoot: false }
  const statements = statementsOf(log.name, { at: log.at, index: 0 }, attributes, log.body)
  const evaluations = evaluationsOf(log.name, 0, attributes)
  return {
    ...common(named, { kind: "other" }, undefined),
    ...textsOf(attributes, []),
    ...(statements.length > 0 && { statements }),
    ...(evaluations.length > 0 && { evaluations })
  }
}

/** Attributes of a span, and those that it states in events of the conventions. */
const withDetails = ({ attributes, events }: Span): Attributes => {
  const details = events.filter(({ name }) => name === "gen_ai.client.inference.operation.details")
  return details.length === 0 ? attributes : Object.assign({}, ...details.map((event) => event.attributes), attributes)
}

/** Some emitters put the members of an event into the body instead of the attributes. */
const withBody = ({ attributes, body }: LogRecord): Attributes => {
  const said = jsonOf(body)
  if (!isJsonObject(said)) return attributes
  return Object.keys(said).some((key) => key.startsWith("gen_ai.")) ? { ...said, ...attributes } : attributes
}

/** Names of spans that are not of agents: HTTP, databases, messages and calls of other services. */
const INFRASTRUCTURE = /^(?:http|url|db|rpc|messaging|faas|net|peer|server|client|network|aws|k8s|graphql|file)\./

/** Names of where a span was made and that it failed: they say nothing of its work. */
const ORIGIN = /^(?:code|thread|process|error)\./

/** Parts of names under which emitters state what events have. */
const SAYING =
  /(?:agent|model|llm|tool|prompt|completion|message|input|output|argument|result|answer|question|token|usage|cost)/i
const KIND = /(?:^|[._])(?:kind|type|role|operation)$/i

const unreadIn = ({ attributes }: Named, { kind, operation }: Kind): Pick<Meaning, "isUnread" | "isBare"> => {
  const names = Object.keys(attributes).filter((name) => !ORIGIN.test(name))
  const isKnown = kind !== "other" || operation !== undefined || names.some((name) => INFRASTRUCTURE.test(name))
  if (isKnown || names.length === 0) return {}
  const isBare = !names.some((name) => SAYING.test(name) || KIND.test(name))
  return { isUnread: true, ...(isBare && { isBare }) }
}

const isTool = (kind: MeaningKind): boolean => kind === "tool" || kind === "retrieval" || kind === "handoff"

/** A span of an unknown family is a model call when it names a model and its tokens, and a tool when it names one. */
const byEvidence = (attributes: Attributes): Kind => {
  const hasModel = [...ATTRIBUTES.model.names, "model"].some((name) => nameOf(attributes[name]) !== undefined)
  if (hasModel && usageIn(attributes) !== undefined) return { kind: "model" }
  return nameAt(attributes, "toolName") === undefined ? { kind: "other" } : { kind: "tool" }
}

const common = (named: Named, { kind, operation }: Kind, sides: Sides | undefined): Meaning => {
  const { attributes } = named
  const agent = firstOf((family) => family.agent?.(named, kind))
  const byText = agent === undefined && MAY_BE_AGENT.has(kind) ? agentInText(attributes) : undefined
  const byName = agent === undefined && byText === undefined && kind === "agent" ? agentName(named.name) : undefined
  const delegate = firstOf((family) => family.delegate?.(named, kind))
  const hides = delegate === undefined && firstOf((family) => family.hidesDelegate?.(named, kind)) === true
  const workflow = firstOf((family) => family.workflow?.(named, kind))
  const calledBy = firstOf((family) => family.calledBy?.(named, kind))
  const conversation = nameAt(attributes, "conversation") ?? firstOf((family) => family.conversation?.(named))
  const model = nameAt(attributes, "model") ?? (kind === "model" ? nameOf(attributes["model"]) : undefined)
  const provider = providerOf(attributes)
  const isSum = kind === "agent" || kind === "workflow"
  const usage = isSum ? undefined : usageIn(attributes)
  const parts = usage === undefined ? undefined : usageParts(attributes)
  const serviceTier = kind === "model" ? serviceTierIn(attributes) : undefined
  const costUsd = isSum ? undefined : costIn(attributes)
  const responseId = nameAt(attributes, "responseId")
  const finishReasons = textsAt(attributes, "finishReasons")
  const firstChunkMs = firstChunkOf(attributes)
  const kept = unknownOf(attributes)
  return {
    kind: kind === "other" && byText !== undefined ? "step" : kind,
    ...(operation !== undefined && { operation }),
    ...(agent !== undefined && { agent }),
    ...(byText !== undefined && { agent: byText, isAgentAssumed: true as const }),
    ...(byName !== undefined && { agentByName: byName }),
    ...(delegate !== undefined && { delegate }),
    ...(hides && { hidesDelegate: true as const }),
    ...(workflow !== undefined && { workflow }),
    ...(sides?.from !== undefined && { from: sides.from }),
    ...(sides?.to !== undefined && { to: sides.to }),
    ...(calledBy !== undefined && { calledBy }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(parts !== undefined && { usageParts: parts }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(costUsd !== undefined && { costUsd }),
    ...(responseId !== undefined && { responseId }),
    ...(finishReasons.length > 0 && { finishReasons }),
    ...(firstChunkMs !== undefined && { firstChunkMs }),
    clues: cluesOf({ ...ownNames(named.resource), ...attributes }, workflow, conversation),
    ...(kept !== undefined && { attributes: kept })
  }
}

/** Kinds of spans whose texts may name their agent. */
const MAY_BE_AGENT: ReadonlySet<MeaningKind> = new Set(["agent", "step", "other"])

/** Names of classes and methods, and of what every agent does. */
const NOT_AN_AGENT =
  /^[\w$<>]+(?:(?:\.|::|#)[\w$<>]+)+(?:\(\))?$|\(|^(?:ai )?agent(?:[ _.-]?(?:run|executor|workflow|step|span|invoke))?$|^(?:invoke_agent|a?invoke|a?run|langgraph|execute|main)$/i

/** The agent of a span that decorators named after its function; undefined for the names of classes and methods. */
const agentName = (name: string): string | undefined => {
  const found = nameOf(name)
  return found === undefined || NOT_AN_AGENT.test(found) ? undefined : found
}

/** Emitters that state no arguments and no result may state messages: what the tool received, and what it answered. */
const toolOf = (named: Named, { input, output }: SpanTexts): ToolMeaning => {
  const { attributes } = named
  const callId = nameAt(attributes, "toolCallId")
  const type = nameAt(attributes, "toolType")
  const given = jsonAt(attributes, "toolArguments") ?? contentOf(input)
  const result = jsonAt(attributes, "toolResult") ?? contentOf(output)
  return {
    name:
      nameAt(attributes, "toolName") ??
      firstOf((family) => family.toolName?.(named)) ??
      nameOf(withoutMethod(named.name)) ??
      "tool",
    ...(callId !== undefined && { callId }),
    ...(type !== undefined && { type }),
    ...(given !== undefined && { arguments: given }),
    ...(result !== undefined && { result })
  }
}

/** A framework is not a provider; the price then comes from the model alone. */
const providerOf = (attributes: Attributes): string | undefined => {
  for (const name of ATTRIBUTES.provider.names) {
    const provider = nameOf(attributes[name])
    if (provider !== undefined && !FRAMEWORKS.has(provider.toLowerCase())) return provider
  }
  return undefined
}

const firstChunkOf = (attributes: Attributes): number | undefined => {
  const seconds = numberAt(attributes, "firstChunkSeconds")
  return seconds === undefined ? numberAt(attributes, "firstChunkMs") : seconds * 1000
}

/** Our own names may be set for a whole process, as attributes of its resource. */
const ownNames = (resource: Attributes): Attributes =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => name.startsWith("runplane.")))

const cluesOf = (attributes: Attributes, workflow: string | undefined, conversation: string | undefined): RunClues => {
  const scenario = nameAt(attributes, "scenario")
  const promptName = nameAt(attributes, "promptName")
  const promptVersion = nameAt(attributes, "promptVersion") ?? numberAt(attributes, "promptVersion")?.toString()
  const promptHash = nameAt(attributes, "promptHash")
  const policy = nameAt(attributes, "policy")
  const tags = textsAt(attributes, "tags")
  const user = nameAt(attributes, "user")
  return {
    ...(scenario !== undefined && { scenario }),
    ...(workflow !== undefined && { workflow }),
    ...(conversation !== undefined && { conversation }),
    ...(promptName !== undefined && { promptName }),
    ...(promptVersion !== undefined && { promptVersion }),
    ...(promptHash !== undefined && { promptHash }),
    ...(policy !== undefined && { policy }),
    ...(tags.length > 0 && { tags }),
    ...(user !== undefined && { user })
  }
}

/** Names of the table, whose values are read; the others of the conventions are kept as they are. */
const READ: ReadonlySet<string> = new Set([
  ...Object.values(ATTRIBUTES).flatMap(({ names }): ReadonlyArray<string> => names),
  ...["gen_ai.operation.name", "gen_ai.tool.definitions", "gen_ai.usage"]
])
const INDEXED = ["gen_ai.prompt.", "gen_ai.completion.", "gen_ai.usage.", NEVER_COUNTED]

const unknownOf = (attributes: Attributes): JsonObject | undefined => {
  const kept: Record<string, Schema.Json> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith("gen_ai.") || READ.has(name) || INDEXED.some((start) => name.startsWith(start))) continue
    if (typeof value === "string" && isHidden(value)) continue
    kept[name] = value
  }
  if (Object.keys(kept).length === 0) return undefined
  const bounded = boundPayload(cleanObject(kept))
  return isJsonObject(bounded) && !isJsonArray(bounded) ? bounded : undefined
}
