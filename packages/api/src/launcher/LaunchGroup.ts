import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { AgentStartFailed, CatalogEntryNotFound, LauncherFault, LaunchRejected } from "../errors/LauncherErrors.ts"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { LaunchValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { CompileLaunchResult, compileRequestRule, ExampleRun, exampleRunRequestRule } from "./Launch.ts"

const failures = [LaunchRejected, CatalogEntryNotFound, LauncherFault] as const

/** Compilation and the example flow (scenario-launch-service "Endpoints"). */
export class LaunchGroup extends HttpApiGroup.make("launch")
  .add(
    HttpApiEndpoint.post("compile", "/launch/compile", {
      payload: bodySchema(compileRequestRule),
      success: CompileLaunchResult.pipe(HttpApiSchema.status(201)),
      error: failures
    }).annotateMerge(
      requestDescription({
        summary: "Compile inputs into a run descriptor",
        body: { name: "CompileRequest", rule: compileRequestRule }
      })
    ),
    HttpApiEndpoint.post("runExample", "/examples/run", {
      payload: bodySchema(exampleRunRequestRule),
      success: ExampleRun.pipe(HttpApiSchema.status(201)),
      error: [...failures, AgentStartFailed]
    }).annotateMerge(
      requestDescription({
        summary: "Compile, start the example agents and submit the run",
        body: { name: "ExampleRunRequest", rule: exampleRunRequestRule }
      })
    )
  )
  .middleware(LaunchValidation)
  .middleware(LauncherApiKey)
  .middleware(RateLimit) {}
