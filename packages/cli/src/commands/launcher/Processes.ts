import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { withLauncher } from "../../Connection.ts"
import { printDone, printRows } from "../../Output.ts"

const list = Command.make("list", {}, () =>
  withLauncher(({ processes }) =>
    Effect.gen(function* () {
      yield* printRows(
        [
          { title: "PROCESS", text: ({ id }) => id },
          { title: "PID", text: ({ pid }) => (pid === undefined ? "-" : String(pid)) },
          { title: "STATE", text: ({ state }) => state },
          { title: "SINCE", text: ({ since }) => since },
          { title: "RUN", text: ({ runId, sessionId }) => runId ?? sessionId },
          {
            title: "PARTICIPANT",
            text: ({ agentRef, participantId }) => `${participantId} (${agentRef})`,
            elastic: true
          }
        ],
        yield* processes.list()
      )
    })
  )
).pipe(Command.withDescription("List the agent processes of the launch service"))

const stop = Command.make(
  "stop",
  { id: Argument.String("process").pipe(Argument.withDescription("Id of the process, from `processes list`")) },
  ({ id }) =>
    Effect.gen(function* () {
      yield* withLauncher(({ processes }) => processes.stop({ params: { id } }))
      yield* printDone(`process ${id} has ended`, { stopped: id })
    })
).pipe(Command.withDescription("Stop an agent process"))

/** `runplane processes ...` */
export const processes = Command.make("processes").pipe(
  Command.withDescription("Agent processes of the launch service"),
  Command.withSubcommands([list, stop])
)
