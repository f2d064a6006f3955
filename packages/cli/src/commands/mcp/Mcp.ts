import * as NodeStdio from "@effect/platform-node/NodeStdio"
import type { ConfirmMode } from "@runplane/mcp"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { withServices } from "../../Connection.ts"

/** Loaded when it is needed: the other commands start without it. */
const loaded = Effect.promise(() => import("@runplane/mcp"))

const confirmModes = ["token", "human", "none"] as const satisfies ReadonlyArray<ConfirmMode>

const DEFAULT_RESULT_BYTES = 40_000
const LEAST_RESULT_BYTES = 20_000
const MAX_CALLS = 4

/**
 * `runplane mcp` (docs/reference/mcp.md#stdio): the tools of `POST /mcp` on standard input and output, over the typed
 * client and a profile. Ends with its input.
 */
export const mcp = Command.make(
  "mcp",
  {
    confirm: Flag.Literals("confirm", confirmModes).pipe(
      Flag.withDescription("How actions are confirmed: by a token of step one, by a person alone, or not at all"),
      Flag.withDefault("token")
    ),
    maxResultBytes: Flag.Int("max-result-bytes").pipe(
      Flag.withDescription("Most bytes of an answer, text and structured part together; at least 20000"),
      Flag.withDefault(DEFAULT_RESULT_BYTES)
    )
  },
  ({ confirm, maxResultBytes }) =>
    Effect.gen(function* () {
      const { layerMcpStdio, memoryConfirmations, withVia } = yield* loaded
      yield* withServices(
        ({ launcher, plane, planeFailure }) =>
          Effect.gen(function* () {
            const { id, role } = yield* Effect.mapError(plane.api.me.me(), planeFailure)
            const backend = {
              plane,
              launcher,
              subscriptions: undefined,
              confirm,
              confirmations: memoryConfirmations(),
              maxConcurrency: MAX_CALLS,
              maxResultBytes: Math.max(LEAST_RESULT_BYTES, maxResultBytes)
            }
            const server = layerMcpStdio(backend, { id, role }).pipe(Layer.provide(NodeStdio.layer))
            // The module interrupts the fiber of the server at the end of the input, which is the end of the command.
            yield* Fiber.await(yield* Effect.forkChild(Layer.launch(server)))
          }),
        withVia
      )
    })
).pipe(Command.withDescription("Serve the tools of the services to an assistant, on standard input and output"))
