import type {
  CatalogEntryNotFound,
  CompileLaunchResult,
  CompileRequest,
  LaunchInitiator,
  LaunchRejected
} from "@runplane/api"
import { isBlank, payloadTypeName, shadowName } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { LaunchPlan, ScenarioTemplate, ScenarioVersion } from "../catalog/Catalog.ts"
import { KickoffEntry, type LaunchBlock } from "../catalog/PackDocuments.ts"
import { brokenIds, NOT_ONE_LINE, repeatedIds } from "../catalog/ScenarioFaults.ts"
import { shadowFaults } from "../catalog/ShadowFaults.ts"
import { distinct, type JsonObject } from "../common/Json.ts"
import { compilationFailed, inputsInvalid, templateNotFound } from "../common/LaunchErrors.ts"
import { compilePeople, type KnownPeople } from "./CompilePeople.ts"
import { checkExtensions, type Extensions } from "./Extensions.ts"
import { asText, interpolate } from "./Placeholders.ts"

/** What the compiler needs besides the request and the catalog. */
export interface CompileContext {
  /** Fresh UUID v4. */
  readonly sessionId: string
  readonly serviceName: string
  /** NODE_ENV. */
  readonly environment: string
  readonly people: KnownPeople
  /** Undefined where the catalog of agents is not known. */
  readonly knowsAgent?: ((agentRef: string) => boolean) | undefined
}

/** Tag that every launch carries first. */
const EXAMPLE_TAG = "example"

/** Compiles one scenario version with a user's inputs. Pure: the caller passes the session id. */
export const compileLaunch = (
  scenario: ScenarioVersion,
  request: CompileRequest,
  context: CompileContext
): Result.Result<CompileLaunchResult, CatalogEntryNotFound | LaunchRejected> =>
  Result.gen(function* () {
    const template = yield* findTemplate(scenario, request.templateId)
    const plan = template?.plan ?? scenario.base
    const { launch } = plan
    const inputs = { ...defaultsOf(scenario, template), ...request.inputs }
    const errors = scenario.validate(inputs)
    if (errors.length > 0) return yield* Result.fail(inputsInvalid(errors))

    const extensions = yield* checkExtensions(launch.extensions)
    const sessionContext = yield* interpolateOptional(launch.contextTemplate, inputs)
    const metadata = yield* interpolateOptional(launch.metadataTemplate, inputs)
    const kickoffs = yield* Result.all((launch.kickoffTemplate ?? []).map((entry) => kickoffEntry(entry, inputs)))
    yield* checkParticipants(launch.participants)
    const initiatorId = yield* initiatorIn(launch, kickoffs[0])
    const people = yield* compilePeople(launch, inputs, initiatorId, context.people)
    const shadows = yield* compileShadows({ ...launch, ...present("initiatorParticipantId", initiatorId) }, context)
    const mode = request.mode ?? "sandbox"

    const compiled: CompileLaunchResult = {
      sessionId: context.sessionId,
      mode,
      runDescriptor: {
        mode,
        runtime: plan.runtime,
        session: {
          sessionId: context.sessionId,
          modeName: launch.modeName,
          modeVersion: launch.modeVersion,
          configurationVersion: launch.configurationVersion,
          ...present("policyVersion", launch.policyVersion),
          ttlMs: launch.ttlMs,
          participants: launch.participants.map(({ id }) => ({ id })),
          metadata: sessionMetadata(request, context, metadata)
        },
        execution: {
          ...present("idempotencyKey", unlessBlank(plan.execution.idempotencyKey)),
          tags: tagsOf(scenario, plan),
          requester: {
            actorId: plan.execution.requester?.actorId ?? context.serviceName,
            actorType: plan.execution.requester?.actorType ?? "service"
          }
        }
      },
      ...(initiatorId === undefined
        ? {}
        : { initiator: initiatorOf(scenario, plan, initiatorId, metadata, extensions, kickoffs[0]) }),
      scenarioMeta: {
        ...present("policyHints", launch.policyHints),
        ...present("sessionContext", sessionContext),
        ...present("initiatorParticipantId", initiatorId)
      },
      display: {
        title: scenario.metadata.name,
        scenarioRef: request.scenarioRef,
        ...present("templateId", request.templateId || undefined),
        ...present("expectedDecisionKinds", scenario.expectedDecisionKinds)
      },
      participantBindings: launch.participants.map(({ id, role, agentRef }) => ({ participantId: id, role, agentRef })),
      ...present("people", people),
      ...present("shadows", shadows)
    }
    return compiled
  })

/** The agents that are tried beside participants; undefined without any. Each refusal names its field. */
const compileShadows = (
  launch: LaunchBlock,
  { knowsAgent: knows, people: { isPerson } }: CompileContext
): Result.Result<CompileLaunchResult["shadows"], LaunchRejected> => {
  const { shadows = [] } = launch
  const faults = shadowFaults(launch, { knows, isPerson }, ["launch"])
  if (faults.length > 0) {
    return Result.fail(compilationFailed(faults.map(({ message }) => `launch.${message}`).join("; ")))
  }
  const named = shadows.map(({ agent, as }) => ({ shadow: shadowName(as, agent), as, agent }))
  return Result.succeed(named.length === 0 ? undefined : named)
}

const unlessBlank = (text: string | undefined) => (text === undefined || isBlank(text) ? undefined : text)

/**
 * The named template; none when no name, or an empty one, is given. A template called `default` has no special meaning.
 */
export const findTemplate = (
  scenario: ScenarioVersion,
  slug: string | undefined
): Result.Result<ScenarioTemplate | undefined, CatalogEntryNotFound> => {
  if (slug === undefined || slug === "") return Result.succeed(undefined)
  return Result.fromNullishOr(
    scenario.templates.find((template) => template.slug === slug),
    () => templateNotFound(slug, scenario)
  )
}

/** Input values before the request's own: the schema's defaults, overridden one by one by the template's. */
export const defaultsOf = (scenario: ScenarioVersion, template: ScenarioTemplate | undefined): JsonObject => ({
  ...scenario.schemaDefaults,
  ...template?.defaults
})

/** The runtime refuses a session that names a participant twice, and no process can be given a NUL. */
const checkParticipants = (participants: LaunchBlock["participants"]): Result.Result<void, LaunchRejected> => {
  const broken = brokenIds(participants)[0]
  if (broken !== undefined) {
    return Result.fail(compilationFailed(`launch.participants.${broken}.id ${NOT_ONE_LINE}`))
  }
  const [twice] = repeatedIds(participants)
  return twice === undefined
    ? Result.void
    : Result.fail(compilationFailed(`launch.participants declares "${twice}" twice: give each participant its own id`))
}

/**
 * Who opens the session (docs/internals/launch.md#initiator): only a participant can. Undefined without participants.
 */
const initiatorIn = (
  { initiatorParticipantId, participants }: LaunchBlock,
  kickoff: KickoffEntry | undefined
): Result.Result<string | undefined, LaunchRejected> => {
  const id = initiatorParticipantId ?? kickoff?.from ?? participants[0]?.id
  if (id === undefined || participants.some((participant) => participant.id === id)) return Result.succeed(id)
  const named = initiatorParticipantId === undefined ? "launch.kickoffTemplate.0.from" : "launch.initiatorParticipantId"
  return Result.fail(compilationFailed(`${named} "${id}" is not a participant: no agent would open the session`))
}

/** The five keys written here are reserved: a scenario's metadata cannot replace them. */
const sessionMetadata = (
  request: CompileRequest,
  context: CompileContext,
  metadata: JsonObject | undefined
): JsonObject => ({
  ...metadata,
  source: context.serviceName,
  sourceRef: request.scenarioRef,
  scenarioRef: request.scenarioRef,
  templateId: request.templateId || "default",
  environment: context.environment
})

const tagsOf = (scenario: ScenarioVersion, plan: LaunchPlan) =>
  distinct([
    EXAMPLE_TAG,
    scenario.pack,
    scenario.scenario,
    ...(plan.execution.tags ?? []),
    ...(scenario.metadata.tags ?? [])
  ])

const initiatorOf = (
  scenario: ScenarioVersion,
  { launch }: LaunchPlan,
  participantId: string,
  metadata: JsonObject | undefined,
  extensions: Extensions | undefined,
  kickoff: KickoffEntry | undefined
): LaunchInitiator => {
  const intent = metadata?.["intent"]
  return {
    participantId,
    sessionStart: {
      intent: intent === undefined || intent === null ? `${scenario.pack}/${scenario.scenario}` : asText(intent),
      participants: launch.participants.map(({ id }) => id),
      ttlMs: launch.ttlMs,
      ...present("maxSuspendMs", launch.maxSuspendMs),
      modeVersion: launch.modeVersion,
      configurationVersion: launch.configurationVersion,
      ...present("policyVersion", launch.policyVersion),
      ...present("contextId", launch.contextId),
      ...present("extensions", extensions)
    },
    ...(kickoff === undefined ? {} : { kickoff: kickoffOf(kickoff, launch.modeName) })
  }
}

/** The first message of the session: its type, payload type and payload may each have one of several keys. */
const kickoffOf = (entry: KickoffEntry, modeName: string): NonNullable<LaunchInitiator["kickoff"]> => {
  const proto = entry.payloadEnvelope?.proto
  const messageType = entry.messageType ?? (entry.kind === "proposal" ? "Proposal" : "Signal")
  return {
    messageType,
    ...present("payloadType", proto?.typeName ?? payloadTypeName(modeName, messageType)),
    payload: entry.payload ?? entry.payloadEnvelope?.json ?? proto?.value ?? {}
  }
}

const kickoffEntry = (entry: JsonObject, inputs: JsonObject): Result.Result<KickoffEntry, LaunchRejected> =>
  Result.flatMap(interpolate(entry, inputs), (filled) =>
    Result.mapError(Schema.decodeUnknownResult(KickoffEntry)(filled), (error) =>
      compilationFailed(`launch.kickoffTemplate is malformed: ${error.message}`)
    )
  )

const interpolateOptional = (template: JsonObject | undefined, inputs: JsonObject) =>
  template === undefined ? Result.succeed(undefined) : interpolate(template, inputs)

/** `{ [key]: value }`, or an empty object without a value. */
const present = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V })
