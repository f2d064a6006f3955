import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"

/** Commands that wait: the parent sends one at a time. */
const COMMANDS = 8

/**
 * The child's end of `startChild`: greets, answers each command in turn, and returns when the parent is gone, so that
 * no process outlives a bench that was killed.
 */
export const serveParent = Effect.fn("ParentLink.serve")(function* <Command, Reply extends object, E, R>(options: {
  readonly greeting: Reply
  readonly command: Schema.Decoder<Command>
  readonly answer: (command: Command) => Effect.Effect<Reply, E, R>
}) {
  const commands = yield* Queue.bounded<unknown>(COMMANDS)
  const say = (reply: Reply) => Effect.sync(() => process.send?.(reply))
  const decode = Schema.decodeUnknownEffect(options.command)
  const disconnected = Effect.callback<void>((resume) => {
    process.on("message", (message: unknown) => Queue.offerUnsafe(commands, message))
    process.once("disconnect", () => resume(Effect.void))
  })
  const answers = Queue.take(commands).pipe(
    Effect.flatMap(decode),
    Effect.flatMap(options.answer),
    Effect.flatMap(say),
    Effect.forever
  )
  yield* say(options.greeting)
  yield* Effect.raceFirst(disconnected, answers)
})
