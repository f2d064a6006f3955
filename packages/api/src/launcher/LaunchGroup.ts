import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { CompileLaunchResult, CompileRequest, ExampleRun, ExampleRunRequest, LaunchQueue } from "./Launch.ts"

/** Compilation and the example flow. */
export class LaunchGroup extends HttpApiGroup.make("launch")
  .add(
    HttpApiEndpoint.post("compile", "/launch/compile", {
      payload: bodySchema(CompileRequest, { unknownKeys: "drop" }),
      success: CompileLaunchResult.pipe(HttpApiSchema.status(201)),
      error: [...Failure.compilation, Failure.InvalidConfig]
    }).annotateMerge(
      operation({
        id: "compileLaunch",
        access: "viewer",
        summary: "Compile inputs into a run descriptor",
        description:
          "Checks the inputs against the scenario, fills them in, and allocates the session. `runDescriptor` is what the run " +
          "control plane takes; `initiator` is for the agent that opens the session. Nothing is started."
      })
    ),
    HttpApiEndpoint.post("runExample", "/examples/run", {
      payload: bodySchema(ExampleRunRequest, { unknownKeys: "drop" }),
      success: ExampleRun.pipe(HttpApiSchema.status(201)),
      error: [
        ...Failure.compilation,
        Failure.AgentNotFound,
        Failure.LaunchUnaffordable,
        Failure.LaunchConflict,
        Failure.InvalidConfig,
        Failure.AuthMintFailed,
        Failure.AgentAttachFailed,
        Failure.LaunchesFull
      ]
    }).annotateMerge(
      operation({
        id: "runExample",
        access: "operator",
        summary: "Launch a scenario with example agents",
        description:
          "Compiles, starts the agents one after the other with the initiator first, and submits the run meanwhile. " +
          "`controlPlaneRun` is absent when no control plane is configured or the submission failed: the agents run all the " +
          "same. With `bootstrapAgents: false` it only compiles. A repeated `idempotencyKey` with the same body is answered " +
          "with the first launch."
      })
    ),
    HttpApiEndpoint.get("queue", "/examples/queue", { success: LaunchQueue }).annotateMerge(
      operation({
        id: "getLaunchQueue",
        access: "viewer",
        summary: "List the waiting launches",
        description:
          "Agent processes are bounded in number. A launch whose agents do not fit waits, and its request with it; this is " +
          "its position meanwhile."
      })
    )
  )
  .annotateMerge(tag("Launch", "From inputs to a run")) {}
