// What runs for as long as a service does is started by `forever`, so that no failure ends it without a line
// (docs/reference/operations.md#loops). The check `loops` refuses every other way to repeat or to fork.
import { read, trackedFiles } from "../Repository.ts"

/** The packages of services. Commands, the console, clients and the bench end with their work. */
const PACKAGES = ["control-plane", "launcher", "mcp", "postgres", "runtime", "sandbox", "server", "stack"]

/** What is refused; `forever` itself is allowed to. */
const PATTERNS = [
  /\bEffect\.forever\b/,
  /\bSchedule\.(?:spaced|fixed|windowed|cron|forever)\b/,
  // With a condition it ends.
  /\bEffect\.(?:repeat|schedule)\((?!\{$|.*\b(?:until|while)\b)/,
  /\bStream\.(?:tick|repeat|fromSchedule|schedule)\b/,
  /\bsetInterval\(/,
  /\bEffect\.fork(?:Scoped|Detach|Daemon)\b(?!\($|\((?:forever|reopened)\()/
]
const HERE = "packages/checks/src/loops/Loops.ts"
const HELPER = "packages/server/src/loops/"

/** Lines that may stay, by file and a part of the line, each with its reason. */
const EXCEPTIONS = [
  {
    file: "packages/control-plane/src/event-log/append/GroupCommit.ts",
    text: "Schedule.spaced(OUTCOME_POLL_MS)",
    reason: "the outcome of one COMMIT; within a timeout"
  },
  {
    file: "packages/control-plane/src/observe/RunWriter.ts",
    text: "Schedule.spaced(RETRY_MS)",
    reason: "the cursor of one run, whose observer is supervised"
  },
  {
    file: "packages/control-plane/src/observe/sessions/EarlySubscriptions.ts",
    text: "Effect.forever",
    reason: "the frames of one subscription; it ends with them, and its observer is supervised"
  },
  {
    file: "packages/control-plane/src/observe/SessionDiscovery.ts",
    text: "yield* Effect.forkScoped(",
    reason: "SessionDirectory.watch is a loop"
  },
  { file: "packages/launcher/src/agents/AgentHost.ts", text: "Effect.forkScoped(", reason: "the texts of one agent" },
  {
    file: "packages/launcher/src/examples/ParticipantAgents.ts",
    text: "logFaults(",
    reason: "runs once, at the start"
  },
  { file: "packages/mcp/src/Server.ts", text: "subscriptions.deliver(", reason: "the notices of one server" },
  { file: "packages/mcp/src/Subscriptions.ts", text: "Effect.forkScoped", reason: "the stream of one subscription" },
  {
    file: "packages/launcher/src/http/a2a/Bindings.ts",
    text: "Stream.tick(LIFE_MS)",
    reason: "a sign of life that ends with its stream"
  },
  { file: "packages/postgres/src/KeptServer.ts", text: "Schedule.spaced(", reason: "ends after 15 seconds" },
  { file: "packages/postgres/src/KeptServer.ts", text: "Effect.forkScoped", reason: "its end is `lost`" },
  { file: "packages/postgres/src/PostgresServer.ts", text: "Schedule.spaced(", reason: "ends after a timeout" },
  { file: "packages/runtime/src/Backoff.ts", text: "Schedule.spaced(", reason: "pauses of retries, for their callers" },
  { file: "packages/stack/src/demo/Demo.ts", text: "Schedule.spaced(", reason: "ends after some polls" },
  { file: "packages/stack/src/demo/Question.ts", text: "Schedule.spaced(", reason: "ends after some polls" },
  { file: "packages/stack/src/runplane/main.ts", text: "setInterval(", reason: "watches the parent of a command" }
]

/** The lines that repeat or fork by themselves. A fork at the end of a line forks what the next one begins. */
export const ownLoops = (text: string): ReadonlyArray<{ readonly number: number; readonly line: string }> => {
  const lines = text.split("\n")
  return lines.flatMap((line, at) => {
    const code = line.replace(/\/\/.*$|^\s*\*.*$/, "")
    if (PATTERNS.every((pattern) => !pattern.test(code))) {
      const forksNext = /\bEffect\.fork(?:Scoped|Detach|Daemon)\($/.test(code.trimEnd())
      if (!forksNext || /^\s*(?:forever|reopened)\(/.test(lines[at + 1] ?? "")) return []
    }
    return [{ number: at + 1, line: line.trim() }]
  })
}

const isExcepted = (file: string, line: string) =>
  EXCEPTIONS.some((each) => each.file === file && line.includes(each.text))

const isOfService = (file: string) =>
  PACKAGES.some((name) => file.startsWith(`packages/${name}/src/`)) && file.endsWith(".ts") && !file.includes("/gen/")

/** One text for each line of a service that repeats or forks without `forever`, and for each unused exception. */
export const unguardedLoops = (): ReadonlyArray<string> => {
  const files = trackedFiles()
    .filter(isOfService)
    .map((file) => ({ file, text: read(file) }))
  const unused = EXCEPTIONS.filter(
    ({ file, text }) => !files.some((each) => each.file === file && each.text.includes(text))
  )
  return [
    ...files
      .filter(({ file }) => !file.startsWith(HELPER))
      .flatMap(({ file, text }) =>
        ownLoops(text)
          .filter(({ line }) => !isExcepted(file, line))
          .map(({ line, number }) => `${file}:${number} ${line}: use forever, or give a reason in ${HERE}`)
      ),
    ...unused.map(({ file, text }) => `${HERE}: the exception of ${file}, ${text}, is not needed any more`)
  ]
}
