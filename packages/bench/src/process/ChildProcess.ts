import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** A process of the bench ended, or wrote something outside its protocol. */
export class ChildFailed extends Data.TaggedError("ChildFailed")<{ readonly name: string; readonly reason: string }> {
  override get message(): string {
    return `the ${this.name} process ${this.reason}`
  }
}

export interface Child<Command, Reply> {
  readonly pid: number
  /** What the process said when it was ready. */
  readonly greeting: Reply
  /** One command at a time; each has one reply. */
  readonly call: (command: Command) => Effect.Effect<Reply, ChildFailed>
}

/** A child that is interrupted answers within this time or is killed. Milliseconds. */
const STOP_TIMEOUT_MS = 5_000
/** Capacity for unread replies; a child sends one reply for each command, so one would be enough. */
const REPLIES = 8

export interface ChildOptions<Reply> {
  readonly name: string
  readonly entry: URL
  readonly environment: Readonly<Record<string, string>>
  readonly reply: Schema.Decoder<Reply>
}

/**
 * Runs a file of this package as a process of its own until the scope closes, and talks to it over Node's IPC channel.
 */
export const startChild = Effect.fn("ChildProcess.start")(function* <Command extends object, Reply>({
  entry,
  environment,
  name,
  reply
}: ChildOptions<Reply>): Effect.fn.Return<Child<Command, Reply>, ChildFailed, Scope.Scope> {
  const replies = yield* Queue.bounded<unknown, ChildFailed>(REPLIES)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const { NODE_COMPILE_CACHE = "", PATH = "" } = process.env
      // What a child logs must not get into the report, so both of its outputs go to our stderr.
      return spawn(process.execPath, [fileURLToPath(entry)], {
        env: { PATH, NODE_COMPILE_CACHE, ...environment },
        stdio: ["ignore", 2, 2, "ipc"]
      })
    }),
    stop
  )
  const failed = (reason: string) => new ChildFailed({ name, reason })
  child.on("message", (message: unknown) => Queue.offerUnsafe(replies, message))
  child.once("error", (error) => Queue.failCauseUnsafe(replies, Cause.fail(failed(error.message))))
  child.once("exit", (code, signal) =>
    Queue.failCauseUnsafe(replies, Cause.fail(failed(`ended with ${signal ?? `code ${code}`}`)))
  )

  const decode = Schema.decodeUnknownEffect(reply)
  const next = Effect.flatMap(Queue.take(replies), (message) =>
    Effect.mapError(decode(message), (error) => failed(`answered nonsense: ${error.message}`))
  )
  const greeting = yield* next
  const turn = yield* Semaphore.make(1)
  const call = (command: Command) =>
    turn.withPermits(1)(
      Effect.andThen(
        Effect.sync(() => child.send(command)),
        next
      )
    )
  return { pid: child.pid ?? 0, greeting, call }
})

const stop = (child: ChildProcess) =>
  ended(child, "SIGTERM").pipe(
    Effect.timeoutOrElse({ duration: STOP_TIMEOUT_MS, orElse: () => ended(child, "SIGKILL") })
  )

const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.callback<void>((resume) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })
