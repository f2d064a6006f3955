import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { argumentsReader } from "./Arguments.ts"
import { type Backend, CurrentCaller, CurrentClient, failureText } from "./Backend.ts"
import { type Binding, canonicalArgs, issueToken, TOKEN_MS, verifyToken } from "./Confirm.ts"
import type { Facts } from "./Facts.ts"
import { type Answer, type JsonObject, shape } from "./Shape.ts"
import { shownArguments } from "./ShownArguments.ts"
import { type CallContext, checkArguments, InvalidInput, type Preview, ToolRefused, type ToolSpec } from "./ToolSpec.ts"

/** A call of a tool becomes a result of the protocol: bounded, and confirmed where it stops or starts something. */

type Result = McpSchema.CallToolResult | McpSchema.InputRequired

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url")
/** Compares in a time that says nothing of the texts; texts of any lengths and letters have hashes of one length. */
const equal = (left: string, right: string) => timingSafeEqual(Buffer.from(hashOf(left)), Buffer.from(hashOf(right)))

const completed = (content: JsonObject) =>
  new McpSchema.CallToolResult({
    content: [{ type: "text", text: JSON.stringify(content) }],
    structuredContent: content
  })

const MAX_ERROR = 1_000

/** An error that the model reads: its code and its message. */
const failed = (error: unknown) => {
  const text =
    error instanceof ToolRefused ? `${error.errorCode}: ${error.message}`.slice(0, MAX_ERROR) : failureText(error)
  return new McpSchema.CallToolResult({ isError: true, content: [{ type: "text", text }] })
}

/** What a person fills in to confirm an action. */
const Form = Schema.Struct({
  confirm: Schema.Boolean.annotate({ title: "Do it", description: "Whether the action is to be done" }),
  reason: Schema.optionalKey(Schema.String.annotate({ title: "Reason", description: "For the audit log" }))
})
type Form = typeof Form.Type

const requestedSchema = {
  type: "object",
  properties: {
    confirm: { type: "boolean", title: "Do it", description: "Whether the action is to be done" },
    reason: { type: "string", title: "Reason", description: "For the audit log" }
  },
  required: ["confirm"]
}

const decodeForm = Schema.decodeUnknownOption(Form)

/** Bytes of the facts in a form, and of the arguments. */
const MAX_FORM_FACTS = 4_000
const MAX_FORM_ARGUMENTS = 6_000

/** What the person reads: the arguments as they are confirmed, and what would happen. */
const messageOf = ({ title }: ToolSpec, { facts }: Preview, input: unknown) => {
  const shown = { arguments: shownArguments(input, MAX_FORM_ARGUMENTS, hashOf) }
  return `${title}? ${JSON.stringify(shown)} ${JSON.stringify(shape({ facts, rest: "run_get" }, MAX_FORM_FACTS))}`
}

const reasonOf = (input: unknown): string | undefined =>
  typeof input === "object" && input !== null && "reason" in input && typeof input.reason === "string"
    ? input.reason
    : undefined

/** Where a call stands: the action may run, or an answer replaces it. */
type Step =
  | { readonly _tag: "Go"; readonly reason: string | undefined }
  | { readonly _tag: "Answer"; readonly facts: Facts; readonly exact: JsonObject }
  | { readonly _tag: "Ask"; readonly request: McpSchema.InputRequired }

const go = (reason: string | undefined): Step => ({ _tag: "Go", reason })
const answer = (facts: Facts, exact: JsonObject = {}): Step => ({ _tag: "Answer", facts, exact })
const declined = answer({ state: "declined" })
const ofForm = (form: Form | undefined): Step => (form?.confirm === true ? go(form.reason) : declined)

/** The confirmation of an action (docs/reference/mcp.md#confirmation). */
const confirmed = Effect.fnUntraced(function* (
  spec: ToolSpec,
  preview: (context: CallContext) => Effect.Effect<Preview, unknown>,
  input: unknown,
  context: CallContext
) {
  const { backend, caller } = context
  if (backend.confirm === "none") return go(reasonOf(input))
  const request = yield* McpSchema.McpRequestContext
  const secret = yield* backend.confirmations.secret
  const mac = (text: string) => createHmac("sha256", secret).update(text).digest("base64url")
  const binding: Binding = { tool: spec.name, args: canonicalArgs(input, hashOf), key: caller.id }
  const seen = yield* preview(context)
  const now = yield* Clock.currentTimeMillis
  const expiresAt = now + TOKEN_MS
  const stateOf = ({ bindsFacts, facts, index, status }: Preview) => ({
    status,
    index,
    ...(bindsFacts === true && { facts: hashOf(JSON.stringify(facts)) })
  })
  const token = issueToken(mac, { ...binding, ...stateOf(seen), nonce: randomUUID(), expiresAt })
  const shown = { arguments: shownArguments(input, backend.maxResultBytes / 4, hashOf) }
  const offer = { confirmToken: token, expiresAt: timeOf(expiresAt), ...shown }

  /** Accepts a token of step one once, while the run is as it was then. */
  const redeemed = Effect.fnUntraced(function* (presented: string, then: Step) {
    const verdict = verifyToken(presented, { mac, equal, now }, binding, stateOf(seen))
    if (verdict._tag === "Invalid")
      return yield* new ToolRefused({ errorCode: "CONFIRMATION_REFUSED", message: verdict.why })
    if (verdict._tag === "Stale") {
      const changed = {
        status: [verdict.status, seen.status],
        index: [verdict.index, seen.index],
        ...(verdict.hasOtherFacts && { would: true })
      }
      return answer({ state: "stale", changed, would: seen.facts }, isHuman ? {} : offer)
    }
    if (yield* backend.confirmations.redeem(verdict.nonce, verdict.expiresAt)) return then
    return yield* new ToolRefused({ errorCode: "CONFIRMATION_REFUSED", message: "the token was used before" })
  })

  const isHuman = backend.confirm === "human"
  const client = yield* Effect.serviceOption(McpSchema.McpServerClient)
  if (request.clientCapabilities.elicitation !== undefined) {
    if (Option.isSome(client)) {
      // A session: the client shows the form while this call waits.
      const form = yield* McpServer.elicit({ message: messageOf(spec, seen, input), schema: Form }).pipe(
        Effect.provideService(McpSchema.McpServerClient, client.value),
        Effect.catchTag("ElicitationDeclined", () => Effect.succeed(undefined))
      )
      const after = yield* preview(context)
      const isSame = JSON.stringify(stateOf(after)) === JSON.stringify(stateOf(seen))
      if (form?.confirm !== true || isSame) return ofForm(form)
      const changed = { status: [seen.status, after.status], index: [seen.index, after.index] }
      return answer({ state: "stale", changed, would: after.facts })
    }
    const response = request.inputResponses?.["confirm"]
    if (response === undefined || request.requestState === undefined) {
      const params = { mode: "form", message: messageOf(spec, seen, input), requestedSchema }
      const step: Step = {
        _tag: "Ask",
        request: new McpSchema.InputRequired({
          inputRequests: { confirm: { method: "elicitation/create", params } },
          requestState: token
        })
      }
      return step
    }
    const isAccepted = response["action"] === "accept"
    return yield* redeemed(
      request.requestState,
      isAccepted ? ofForm(Option.getOrUndefined(decodeForm(response["content"]))) : declined
    )
  }
  if (isHuman) {
    const message = "MCP_CONFIRM=human: only a client that can show a form to a person (elicitation) confirms actions"
    return yield* new ToolRefused({ errorCode: "CONFIRMATION_NEEDS_PERSON", message })
  }
  const presented =
    typeof input === "object" && input !== null && "confirmToken" in input ? input.confirmToken : undefined
  if (typeof presented === "string") return yield* redeemed(presented, go(reasonOf(input)))
  return answer({ state: "confirm", would: seen.facts }, offer)
})

const timeOf = (at: number) => new Date(at).toISOString()

/** The reason of a form becomes an argument. */
const withReason = (input: unknown, reason: string | undefined): unknown =>
  typeof input === "object" && input !== null && reason !== undefined ? { ...input, reason } : input

/** Calls of one caller that are in progress. */
export const makeSlots = (most: number) => {
  const active = new Map<string, number>()
  return <A, E, R>(key: string, call: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | ToolRefused, R> => {
      const now = active.get(key) ?? 0
      if (now >= most) {
        const message = `${most} calls of this key are in progress: wait for one of them (MCP_MAX_CONCURRENCY)`
        return Effect.fail(new ToolRefused({ errorCode: "TOO_MANY_CALLS", message }))
      }
      active.set(key, now + 1)
      return Effect.ensuring(
        call,
        Effect.sync(() => {
          const left = (active.get(key) ?? 1) - 1
          if (left === 0) active.delete(key)
          else active.set(key, left)
        })
      )
    })
}

const progressToken = (metadata: unknown): string | number | undefined => {
  if (typeof metadata !== "object" || metadata === null || !("progressToken" in metadata)) return undefined
  const { progressToken: token } = metadata
  return typeof token === "string" || typeof token === "number" ? token : undefined
}

/** The handler of a tool for the module. */
export const handlerOf = (
  spec: ToolSpec,
  backend: Backend,
  server: McpServer.McpServer["Service"],
  inSlot: ReturnType<typeof makeSlots>
) => {
  const readArguments = argumentsReader(spec.input)
  return Effect.fnUntraced(function* (
    given: unknown
  ): Effect.fn.Return<Result, McpSchema.InvalidParams, McpSchema.McpRequestContext> {
    const request = yield* McpSchema.McpRequestContext
    const caller = yield* CurrentCaller
    const token = progressToken(request.requestMetadata)
    const context: CallContext = {
      backend,
      caller,
      progress: (done, total, message) =>
        token === undefined
          ? Effect.void
          : server.notifications["notifications/progress"]({ progressToken: token, progress: done, total, message })
    }
    const call = Effect.gen(function* () {
      yield* checkArguments(given)
      const input = yield* readArguments(given)
      const step: Step =
        spec.preview === undefined
          ? go(undefined)
          : yield* confirmed(spec, (context) => previewOf(spec, input, context), input, context)
      if (step._tag === "Ask") return step.request
      if (step._tag === "Answer") return completed(shape({ ...step, rest: "run_get" }, backend.maxResultBytes))
      const result: Answer = yield* spec.call(withReason(input, step.reason), context)
      // An answer of the service can be large: what is left of it takes a turn of its own.
      yield* Effect.yieldNow
      const facts = spec.preview === undefined ? result.facts : { state: "done", ...result.facts }
      return completed(shape({ ...result, facts }, backend.maxResultBytes))
    })
    const { clientInfo } = request
    return yield* inSlot(caller.id, call).pipe(
      Effect.provideService(CurrentClient, clientInfo === undefined ? "" : `${clientInfo.name}/${clientInfo.version}`),
      Effect.catch((error) =>
        error instanceof InvalidInput
          ? Effect.fail(new McpSchema.InvalidParams({ message: error.message }))
          : Effect.succeed(failed(error))
      )
    )
  })
}

const previewOf = (spec: ToolSpec, input: unknown, context: CallContext): Effect.Effect<Preview, unknown> =>
  spec.preview === undefined ? Effect.die(new Error(`${spec.name} has no preview`)) : spec.preview(input, context)
