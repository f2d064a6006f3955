import { PolicyRegistration } from "@runplane/api"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { failed, usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { printDone, printedAsJson, printFacts, printRows } from "../../Output.ts"
import { readJson } from "../common/Input.ts"
import { backtest } from "../decisions/Backtest.ts"

const id = Argument.String("policy").pipe(Argument.withDescription("Id of the policy"))

const list = Command.make(
  "list",
  { mode: Flag.String("mode").pipe(Flag.withDescription("Only of this session mode"), Flag.optional) },
  ({ mode }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const found = yield* api.policies.list({ query: Option.isSome(mode) ? { mode: mode.value } : {} })
        yield* printRows(
          [
            { title: "POLICY", text: ({ policyId }) => policyId },
            { title: "MODE", text: ({ mode }) => mode },
            { title: "FOR", text: ({ description }) => description, elastic: true }
          ],
          found
        )
      })
    )
).pipe(Command.withDescription("List the policies of the runtime"))

const show = Command.make("show", { id }, ({ id }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const policy = yield* api.policies.get({ params: { policyId: id } })
      if (yield* printedAsJson(policy)) return
      yield* printFacts(
        [
          ["Policy", policy.policyId],
          ["Mode", policy.mode],
          ["For", policy.description],
          ["Rules", JSON.stringify(policy.rules)]
        ],
        policy
      )
    })
  )
).pipe(Command.withDescription("Show one policy"))

const register = Command.make(
  "register",
  { file: Argument.String("file").pipe(Argument.withDescription("The policy as JSON; - for standard input")) },
  ({ file }) =>
    Effect.gen(function* () {
      const payload = yield* Schema.decodeUnknownEffect(PolicyRegistration)(yield* readJson(file)).pipe(
        Effect.mapError((error) => usageProblem(`${file} is not a policy: ${error.message}`))
      )
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const answer = yield* api.policies.register({ payload })
          if (!answer.ok)
            return yield* failed(`the runtime refused ${payload.policyId}: ${answer.error ?? "no reason"}`)
          yield* printDone(`policy ${payload.policyId} is registered`, answer)
        })
      )
    })
).pipe(Command.withDescription("Register a policy with the runtime"))

const unregister = Command.make("unregister", { id }, ({ id }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const answer = yield* api.policies.unregister({ params: { policyId: id } })
      yield* printDone(`policy ${id} is unregistered`, answer)
    })
  )
).pipe(Command.withDescription("Remove a policy from the runtime"))

/** `runplane policies ...` */
export const policies = Command.make("policies").pipe(
  Command.withDescription("Governance policies of the runtime"),
  Command.withSubcommands([list, show, register, unregister, backtest])
)
