import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import { startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { openTask } from "./OpenTask.ts"
import {
  type Court,
  decide,
  inputs,
  launcherEnvironment,
  makeCourt,
  message,
  rpc,
  runsOf,
  taskIn
} from "./TaskStage.ts"

const MAIN = fileURLToPath(new URL("../../../launcher/src/main.ts", import.meta.url))
const LISTENS = /listens on/

const startLauncher = Effect.fnUntraced(function* (court: Court) {
  const program = yield* startProgram(MAIN, { env: { PATH: process.env["PATH"], ...launcherEnvironment(court) } })
  assert.isDefined(yield* program.line(LISTENS), program.output())
  return program
})

const hasRun = (court: Court, id: string) => Effect.map(runsOf(court), (runs) => runs.some((run) => run.id === id))

layer(Layer.empty, { excludeTestServices: true })("a launch service that is killed", (it) => {
  it.effect("between the launch and the answer launches a task once", () =>
    Effect.gen(function* () {
      const court = yield* makeCourt
      // When the service is killed: as soon as the task is stored, and as soon as the control plane has its run.
      const moments = ["stored", "recorded"] as const
      const ids: Array<string> = []
      for (const at of moments) {
        const sent = message(`killed-${at}`, ...inputs("open"))
        const service = yield* startLauncher(court)
        const { id } = taskIn(yield* rpc(court, "ana", "SendMessage", sent))
        if (at === "recorded") yield* until(hasRun(court, id), (has) => has, "20 millis")
        yield* service.kill("SIGKILL")
        const next = yield* startLauncher(court)
        assert.strictEqual(taskIn(yield* rpc(court, "ana", "SendMessage", sent)).id, id)
        yield* openTask(court, "ana", id)
        yield* decide(court, id, true)
        const { status } = taskIn(yield* rpc(court, "ana", "GetTask", { id }))
        assert.strictEqual(status.state, "TASK_STATE_COMPLETED")
        yield* next.kill("SIGTERM")
        ids.push(id)
      }
      assert.deepStrictEqual((yield* runsOf(court)).map(({ id }) => String(id)).toSorted(), ids.toSorted())
    })
  )
})
