import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { textParam } from "../validation/Params.ts"

/** A process of an agent on the machine of the launch service (docs/internals/launch.md#processes). */
export const AgentProcess = Schema.Struct({
  id: Field.text("Id of the process in this service: UUID", "4f6c2b1e-8f0e-4d43-9d0c-6f1b0a7c9e21"),
  pid: Schema.optionalKey(Field.integer("Its id at the operating system; absent until it is started", 4711)),
  state: Schema.Literals(["starting", "running", "stopping"]).annotate({
    description: "starting until it counts as attached"
  }),
  since: Field.text("When it was started: ISO 8601", "2026-03-10T09:21:07.412Z"),
  sessionId: Field.text("The session of its launch"),
  runId: Schema.optionalKey(
    Field.text("Its run; absent while the launch is not answered, and without a control plane")
  ),
  scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0"),
  participantId: Field.text("The participant that it speaks for", "replication-analyst"),
  agentRef: Field.text("The agent", "replication-agent")
}).annotate({ identifier: "AgentProcess", description: "A process of an agent" })
export type AgentProcess = typeof AgentProcess.Type

/** The agent processes of the launch service. */
export class ProcessesGroup extends HttpApiGroup.make("processes")
  .add(
    HttpApiEndpoint.get("list", "/processes", { success: Schema.Array(AgentProcess) }).annotateMerge(
      operation({
        id: "listProcesses",
        access: "viewer",
        summary: "List the agent processes",
        description: "Those that run on the machine of the launch service, the oldest first."
      })
    ),
    HttpApiEndpoint.delete("stop", "/processes/:id", {
      params: { id: textParam("Id of the process", "4f6c2b1e-8f0e-4d43-9d0c-6f1b0a7c9e21") },
      success: HttpApiSchema.NoContent,
      error: Failure.ProcessNotFound
    }).annotateMerge(
      operation({
        id: "stopProcess",
        access: "operator",
        summary: "Stop an agent process",
        description:
          "SIGTERM to its process group and to what else it has started, SIGKILL after EXAMPLE_AGENT_STOP_GRACE_MS. " +
          "Answers when it has ended. A run whose session is not open yet fails with that."
      })
    )
  )
  .annotateMerge(tag("Processes", "The processes of the agents")) {}
