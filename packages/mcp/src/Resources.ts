import { shownText } from "@runplane/domain"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { unknownNames } from "./Arguments.ts"
import { type Backend, CurrentCaller, CurrentClient, failureText } from "./Backend.ts"
import { isIdentifier } from "./Identifier.ts"
import { type Answer, shape } from "./Shape.ts"
import { type CallContext, checkArguments, InvalidInput, ToolRefused } from "./ToolSpec.ts"
import { toolNamed } from "./Tools.ts"
import { recordOf } from "./tools/Decisions.ts"
import { refOf } from "./tools/Scenarios.ts"

/** Most ids that a completion returns. */
const MAX_COMPLETIONS = 20

interface TemplateSpec {
  readonly uriTemplate: string
  /** The same with `:0`, `:1` in place of the variables. */
  readonly routerPath: string
  readonly name: string
  readonly description: string
  readonly variable: string
  readonly mimeType: string
  readonly complete: (start: string, context: CallContext) => Effect.Effect<ReadonlyArray<string>, unknown>
  readonly read: (value: string, uri: string, context: CallContext) => Effect.Effect<string, unknown>
}

const JSON_TYPE = "application/json"

/** The answer of a tool as the text of a resource. */
const byTool = (name: string, input: object, context: CallContext) => {
  const spec = toolNamed(name)
  return spec === undefined
    ? Effect.die(new Error(`${name} is not a tool`))
    : Effect.map(spec.call(input, context), (answer: Answer) =>
        JSON.stringify(shape(answer, context.backend.maxResultBytes * 2))
      )
}

const UUID_START = /^[0-9a-f-]{0,36}$/i

/** The latest runs whose id starts so. */
const runIds: TemplateSpec["complete"] = (start, { backend: { plane } }) =>
  UUID_START.test(start)
    ? Effect.map(
        plane.api.runs.list({
          query: {
            limit: MAX_COMPLETIONS,
            offset: 0,
            sortBy: "createdAt",
            sortOrder: "desc",
            includeArchived: false,
            ...(start !== "" && { search: start })
          }
        }),
        ({ data }) => data.map(({ id }) => id).filter((id) => id.startsWith(start.toLowerCase()))
      )
    : Effect.succeed([])

/** The sequence number of the address of events; fails for any other text. */
const afterSeqOf = (uri: string): Effect.Effect<number, InvalidInput> => {
  const text = queryOf(uri).get("afterSeq") ?? "0"
  const value = Number(text)
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(value)
    ? Effect.succeed(value)
    : Effect.fail(new InvalidInput({ message: "afterSeq must be a whole number from 0" }))
}

const queryOf = (uri: string): URLSearchParams =>
  new URLSearchParams(uri.includes("?") ? uri.slice(uri.indexOf("?")) : "")

/** Fails for a query that the template does not name, or names twice: it would be no filter. */
const checkQuery = ({ uriTemplate }: TemplateSpec, uri: string): Effect.Effect<void, InvalidInput> => {
  const known = /\{\?([^}]*)\}/.exec(uriTemplate)?.[1]?.split(",") ?? []
  const names = [...queryOf(uri).keys()]
  const unknown = names.filter((name) => !known.includes(name))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  const message =
    unknown.length > 0
      ? unknownNames(unknown, known, { kind: "parameter" })
      : twice && `the parameter ${twice} is there twice`
  return message === undefined ? Effect.void : Effect.fail(new InvalidInput({ message }))
}

const ofRun = (
  part: string,
  name: string,
  description: string,
  read: TemplateSpec["read"],
  mimeType = JSON_TYPE
): TemplateSpec => ({
  uriTemplate: `runplane://runs/{id}${part}`,
  routerPath: `runplane:://runs/:0${part.replace("{?afterSeq}", "")}`,
  name,
  description,
  variable: "id",
  mimeType,
  complete: runIds,
  read
})

/** The record under `said`, as a quotation: it cannot be mistaken for what the service says to an assistant. */
const quotedRecord = (id: string, record: string, maxResultBytes: number): string => {
  const lines = shownText(record, { lines: true })
    .split("\n")
    .map((line) => `> ${line}`)
  const most = Math.floor(maxResultBytes / 2)
  const kept: Array<string> = []
  let bytes = 0
  for (const line of lines) {
    bytes += new TextEncoder().encode(line).length + 1
    if (bytes > most) break
    kept.push(line)
  }
  const omitted = lines.length - kept.length
  const end = omitted === 0 ? [] : ["", `cut: true, ${omitted} lines are left out; decision_explain has the facts`]
  const head = [`# Decision record of run ${isIdentifier(id) ? id : "without an identifier"}`, "", "## said", ""]
  return [...head, ...kept, ...end, ""].join("\n")
}

const templates: ReadonlyArray<TemplateSpec> = [
  ofRun("", "run", "A run in short", (runId, _, context) => byTool("run_get", { runId }, context)),
  ofRun("/state", "run_state", "The projected state of a run", (id, _, context) =>
    Effect.map(context.backend.plane.api.runs.state({ params: { id } }), (state) =>
      JSON.stringify(
        shape({ facts: JSON.parse(JSON.stringify(state)), rest: "run_events" }, context.backend.maxResultBytes * 2)
      )
    )
  ),
  ofRun("/story", "run_story", "What mattered in a run, in order", (runId, _, context) =>
    byTool("run_story", { runId }, context)
  ),
  ofRun(
    "/decision.md",
    "run_decision",
    "The decision record of a run",
    (id, _, { backend }) => Effect.map(recordOf(id, backend), (text) => quotedRecord(id, text, backend.maxResultBytes)),
    "text/markdown"
  ),
  ofRun("/events{?afterSeq}", "run_events", "Events of a run", (runId, uri, context) =>
    Effect.flatMap(afterSeqOf(uri), (afterSeq) => byTool("run_events", { runId, afterSeq, limit: 100 }, context))
  ),
  {
    uriTemplate: "runplane://policies/{id}",
    routerPath: "runplane:://policies/:0",
    name: "policy",
    description: "A governance policy with its rules",
    variable: "id",
    mimeType: JSON_TYPE,
    complete: (start, { backend: { plane } }) =>
      Effect.map(plane.api.policies.list({ query: {} }), (found) =>
        found.map(({ policyId }) => policyId).filter((id) => id.startsWith(start))
      ),
    read: (policyId, _, context) => byTool("policy_get", { policyId }, context)
  },
  {
    uriTemplate: "runplane://scenarios/{ref}",
    routerPath: "runplane:://scenarios/*",
    name: "scenario",
    description: "The inputs of a scenario",
    variable: "ref",
    mimeType: JSON_TYPE,
    complete: (start, { backend: { launcher } }) =>
      launcher === undefined
        ? Effect.succeed([])
        : Effect.map(launcher.catalog.scenarios(), (found) => found.map(refOf).filter((ref) => ref.startsWith(start))),
    read: (_, uri, context) =>
      Effect.flatMap(
        Effect.try({
          try: () => decodeURIComponent(uri.slice("runplane://scenarios/".length)),
          catch: () => new InvalidInput({ message: "the address of the resource is malformed" })
        }),
        (scenarioRef) => byTool("scenario_get", { scenarioRef }, context)
      )
  }
]

const contextOf = (backend: Backend) =>
  Effect.map(CurrentCaller, (caller): CallContext => ({ backend, caller, progress: () => Effect.void }))

/** Reads and completions name the client of the request to the services. */
const asClient = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { clientInfo } = yield* McpSchema.McpRequestContext
    const name = clientInfo === undefined ? "" : `${clientInfo.name}/${clientInfo.version}`
    return yield* Effect.provideService(effect, CurrentClient, name)
  })

/** Resource templates with completions of their ids (docs/reference/mcp.md#resources). */
export const registerResources = Effect.fnUntraced(function* (backend: Backend) {
  const server = yield* McpServer.McpServer
  for (const spec of templates) {
    const complete = Effect.fnUntraced(function* (start: string) {
      const context = yield* contextOf(backend)
      const all = yield* Effect.andThen(checkArguments(start), spec.complete(start, context)).pipe(
        Effect.orElseSucceed((): ReadonlyArray<string> => [])
      )
      // A completion is the exact name, so a name that is not an identifier has none.
      const values = all.filter(isIdentifier)
      return {
        completion: {
          values: values.slice(0, MAX_COMPLETIONS),
          total: values.length,
          hasMore: values.length > MAX_COMPLETIONS
        }
      }
    })
    yield* server.addResourceTemplate({
      template: new McpSchema.ResourceTemplate({
        uriTemplate: spec.uriTemplate,
        name: spec.name,
        description: spec.description,
        mimeType: spec.mimeType
      }),
      routerPath: spec.routerPath,
      annotations: Context.empty(),
      completions: { [spec.variable]: complete },
      handle: (uri, params) =>
        Effect.gen(function* () {
          const context = yield* contextOf(backend)
          yield* checkArguments(params)
          yield* checkQuery(spec, uri)
          const text = yield* asClient(spec.read(params[0] ?? "", uri, context))
          return { contents: [{ uri, mimeType: spec.mimeType, text }] }
        }).pipe(
          Effect.mapError((error) => {
            // An argument that is refused is not a failure of the service.
            const message =
              error instanceof InvalidInput
                ? `VALIDATION_ERROR: ${error.message}`.slice(0, 1_000)
                : error instanceof ToolRefused
                  ? `${error.errorCode}: ${error.message}`
                  : failureText(error)
            return new McpSchema.InvalidParams({ message })
          })
        )
    })
  }
})

/** The texts of all resources, for a scenario and for a run, which is the id of a policy here too. */
export const resourceTexts = (scenarioRef: string, id: string, context: CallContext) =>
  Effect.forEach(templates, ({ mimeType, name, read, variable }) => {
    const uri = variable === "ref" ? `runplane://scenarios/${encodeURIComponent(scenarioRef)}` : "runplane://"
    return Effect.map(read(id, uri, context), (text) => ({ name, mimeType, text }))
  })
