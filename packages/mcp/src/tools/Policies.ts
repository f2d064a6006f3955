import { type BacktestLine, DEFAULT_POLICY_SCHEMA_VERSION, type PolicyDescriptor } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { defined, type Item } from "../Shape.ts"
import { action, page, ToolRefused, tool } from "../ToolSpec.ts"
import { json } from "./Decisions.ts"
import { bounded, text } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

/** Runs of one backtest at most. */
const MAX_BACKTEST = 2_000
/** Flipped runs of one answer at most. */
const MAX_FLIPS = 100

const policyRow = ({ description, mode, policyId, registeredAtUnixMs, schemaVersion }: PolicyDescriptor) =>
  defined({
    policyId,
    mode,
    schemaVersion,
    registeredAt: registeredAtUnixMs === undefined ? undefined : new Date(registeredAtUnixMs).toISOString(),
    description
  })

const policiesList = tool({
  name: "policies_list",
  title: "List policies",
  description:
    "The governance policies of the runtime's registry, without their rules. Not for the rules of one (policy_get), and " +
    "not for what a policy did in a run (decision_explain).",
  access: "viewer",
  input: { mode: Schema.optionalKey(text("Only policies of this session mode")) },
  output: { total: scalar, ...page },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const found = yield* plane.api.policies.list({ query: input.mode === undefined ? {} : { mode: input.mode } })
    return {
      facts: { total: found.length },
      items: found.map((policy): Item => ({ row: policyRow(policy) })),
      rest: "policy_get"
    }
  })
})

const policyGet = tool({
  name: "policy_get",
  title: "Read a policy",
  description:
    "One policy with its rules. Not for the policy as it was when a run was decided: decision_explain names the rules that " +
    "its log recorded.",
  access: "viewer",
  input: { policyId: text("Id of the policy, such as policy.default") },
  output: { policyId: scalar, rules: scalar },
  call: Effect.fnUntraced(function* ({ policyId }, { backend: { plane } }) {
    const policy = yield* plane.api.policies.get({ params: { policyId } })
    return { facts: json({ ...policyRow(policy), rules: policy.rules }), rest: "policy_get" }
  })
})

const policy = Schema.Struct({
  policyVersion: Schema.optionalKey(text("Id of a registered policy; either this or rules")),
  mode: Schema.optionalKey(text("Session mode of the rules; * for every mode")),
  schemaVersion: Schema.optionalKey(Schema.Literals([1, 2, 3])),
  rules: Schema.optionalKey(Schema.JsonObject.annotate({ description: "The rules, as for a registration" }))
})

const backtest = tool({
  name: "policy_backtest",
  title: "Backtest a policy",
  description:
    "Which of the latest matching runs, 2,000 at most, another policy would have ended differently. Reports progress. Nothing " +
    "is written. Not for one run (decision_what_if).",
  access: "viewer",
  input: {
    policy,
    scope: Schema.optionalKey(
      Schema.Struct({
        scenarioRef: Schema.optionalKey(text("Runs whose scenario contains this")),
        modeName: Schema.optionalKey(text("Runs of this session mode")),
        createdAfter: Schema.optionalKey(text("Runs created after this time, ISO 8601")),
        createdBefore: Schema.optionalKey(text("Runs created before this time, ISO 8601")),
        tags: Schema.optionalKey(Schema.Array(text("Tag")).check(Schema.isMaxLength(20))),
        limit: Schema.optionalKey(bounded(1, MAX_BACKTEST))
      })
    )
  },
  output: { examined: scalar, flipped: scalar, unchanged: scalar, ...page },
  call: Effect.fnUntraced(function* ({ policy, scope = {} }, { backend: { plane }, progress }) {
    const lines = yield* plane.api.decisions.backtest({
      payload: {
        ...(policy.policyVersion !== undefined && { policyVersion: policy.policyVersion }),
        ...(policy.rules !== undefined && {
          policy: {
            mode: policy.mode ?? "*",
            schemaVersion: policy.schemaVersion ?? DEFAULT_POLICY_SCHEMA_VERSION,
            rules: policy.rules
          }
        }),
        scope: { ...scope, limit: scope.limit ?? MAX_BACKTEST }
      }
    })
    const flips: Array<Item> = []
    let summary: BacktestLine | undefined
    yield* Stream.runForEach(lines, (line) => {
      if (line.type === "progress") return progress(line.examined, line.total, `${line.flipped} flipped`)
      if (line.type === "summary") summary = line
      else if (flips.length < MAX_FLIPS) flips.push({ row: { ...line, reasons: line.reasons.slice(0, 3) } })
      return Effect.void
    })
    if (summary?.type !== "summary") {
      return yield* new ToolRefused({ errorCode: "BACKTEST_BROKEN", message: "the backtest ended before its summary" })
    }
    return {
      facts: json(summary),
      items: flips,
      omitted: summary.flipped - flips.length,
      rest: "decision_what_if"
    }
  })
})

const register = action({
  name: "policy_register",
  title: "Register a policy",
  description:
    "Registers a policy at the runtime, in two steps: without confirmToken it only says what it would do. Run policy_backtest " +
    "first. Not for a trial (decision_what_if).",
  access: "admin",
  hints: { destructive: false, idempotent: false },
  input: {
    policyId: text("Id of the new policy"),
    mode: Schema.optionalKey(text("Session mode; * for every mode unless given")),
    description: Schema.optionalKey(text("What it is for")),
    schemaVersion: Schema.optionalKey(Schema.Literals([1, 2, 3])),
    rules: Schema.JsonObject.annotate({ description: "The rules; their keys depend on the mode" })
  },
  output: { ok: scalar, error: scalar },
  preview: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const known = yield* plane.api.policies.list({ query: {} })
    const isKnown = known.some(({ policyId }) => policyId === input.policyId)
    return {
      facts: defined({ policyId: input.policyId, mode: input.mode ?? "*", isKnown, rules: input.rules }),
      status: isKnown ? "registered" : "new",
      index: known.length
    }
  }),
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const answer = yield* plane.api.policies.register({
      payload: {
        policyId: input.policyId,
        mode: input.mode ?? "*",
        description: input.description ?? "",
        schemaVersion: input.schemaVersion ?? DEFAULT_POLICY_SCHEMA_VERSION,
        rules: input.rules
      }
    })
    return { facts: { ...answer, policyId: input.policyId }, rest: "policy_get" }
  })
})

export const policyTools = [policiesList, policyGet, backtest, register]
