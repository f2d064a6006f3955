import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { failed } from "../../CliFailure.ts"
import { withControlPlane, withLauncher } from "../../Connection.ts"
import { output, printedAsJson, printFacts } from "../../Output.ts"
import { parseInput } from "../common/Input.ts"
import { watchRun } from "../streams/Watch.ts"

/** `runplane launch incident/region-failover@1.0.0 --input lag=5` */
export const launch = Command.make(
  "launch",
  {
    scenario: Argument.String("scenario").pipe(Argument.withDescription("pack/scenario@version")),
    input: Flag.String("input").pipe(
      Flag.withAlias("i"),
      Flag.withDescription("name=value; JSON where the value is JSON, else text; may be repeated"),
      Flag.atLeast(0)
    ),
    template: Flag.String("template").pipe(Flag.withDescription("Template of the scenario"), Flag.optional),
    tag: Flag.String("tag").pipe(Flag.withDescription("Tag of the run; may be repeated"), Flag.atLeast(0)),
    key: Flag.String("key").pipe(
      Flag.withDescription("A repeated key with the same inputs starts nothing and has the first launch"),
      Flag.optional
    ),
    watch: Flag.Boolean("watch").pipe(Flag.withDescription("Show the run to its end"), Flag.withDefault(false))
  },
  ({ input, key, scenario, tag, template, watch }) =>
    Effect.gen(function* () {
      const inputs = Object.fromEntries(yield* Effect.forEach(input, parseInput))
      const { format } = yield* output
      if (format === "text") yield* Console.error(`launching ${scenario}`)
      const launched = yield* withLauncher((launcher) =>
        launcher.launch.runExample({
          payload: {
            scenarioRef: scenario,
            mode: "sandbox",
            inputs,
            bootstrapAgents: true,
            ...(Option.isSome(key) && { idempotencyKey: key.value }),
            ...(tag.length > 0 && { tags: tag }),
            ...(Option.isSome(template) && { templateId: template.value })
          }
        })
      )
      const run = launched.controlPlaneRun
      if (run === undefined) {
        return yield* failed(
          "the agents are up, but the control plane has not accepted the run yet: the launch service submits it again " +
            "for a day to the address of PROTO_CONTROL_PLANE_URL"
        )
      }
      if (watch) return yield* withControlPlane((client) => watchRun(client, run.runId, { exitStatus: true }))
      if (yield* printedAsJson(launched)) return
      yield* printFacts(
        [
          ["Run", run.runId],
          ["Session", run.sessionId],
          ["Agents", launched.hostedAgents.map(({ participantId }) => participantId).join(", ")],
          ["Watch it", `runplane runs watch ${run.runId}`]
        ],
        launched
      )
    })
).pipe(Command.withDescription("Launch a scenario with its example agents"))
