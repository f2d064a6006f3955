import * as Data from "effect/Data"
import * as Result from "effect/Result"

/** What to do after the start: show the example and go on serving, only serve, or end with the example. */
export type Mode = "demo" | "serve" | "demo-only"

export type CommandLine = { readonly help: true } | { readonly help: false; readonly mode: Mode }

/** The command line has something that is not understood. */
export class UsageProblem extends Data.TaggedError("UsageProblem")<{ readonly reason: string }> {
  override get message() {
    return `${this.reason}; npm start -- --help lists what there is`
  }
}

export const HELP = `Runs the whole of Runplane on this machine and shows one example run.

  npm start                     start, run the example, serve until Ctrl-C
  npm start -- --no-demo        start and serve
  npm start -- --demo-only      start, run the example, stop; exit code 0 when it was decided
  npm start -- --help           this text

Settings (environment):

  LAUNCHER_PORT            3000      port of the launch service
  CONTROL_PLANE_PORT       3001      port of the control plane
  SANDBOX_PORT             50051     port of the sandbox runtime
  AUTH_PORT                          port of the auth service (3200, or a free one)
  HOST                     127.0.0.1 address of both services
  DATABASE_URL                       a PostgreSQL of your own instead of the embedded one
  RUNTIME_ADDRESS                    host:port of a runtime of your own instead of the sandbox
  DEV_AUTH                           true or false: whether the auth service mints the credentials for the runtime;
                                     true with the sandbox, false with RUNTIME_ADDRESS
  RUNPLANE_DATA_DIR        .data     folder of the embedded PostgreSQL
  RUNPLANE_POSTGRES_PORT             port of the embedded PostgreSQL (54329, or a free one)
  PACKS_DIR                packs     folder of the scenario packs
  AUTH_API_KEYS                      API keys of both services, separated by commas
  LOG_LEVEL                warn      what the services write to stderr
`

/** Understands the arguments after `npm start --`. */
export const parseCommandLine = (args: ReadonlyArray<string>): Result.Result<CommandLine, UsageProblem> => {
  const unknown = args.find((argument) => !FLAGS.includes(argument))
  if (unknown !== undefined) return Result.fail(new UsageProblem({ reason: `unknown argument "${unknown}"` }))
  if (args.includes("--help") || args.includes("-h")) return Result.succeed({ help: true })
  const serve = args.includes("--no-demo")
  const only = args.includes("--demo-only")
  if (serve && only) return Result.fail(new UsageProblem({ reason: "--no-demo and --demo-only exclude each other" }))
  return Result.succeed({ help: false, mode: serve ? "serve" : only ? "demo-only" : "demo" })
}

const FLAGS: ReadonlyArray<string> = ["--no-demo", "--demo-only", "--help", "-h"]
