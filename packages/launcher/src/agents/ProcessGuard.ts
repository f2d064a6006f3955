import { type ChildProcess, spawn } from "node:child_process"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Seconds that processes get to end by themselves after SIGTERM, as at an ordinary stop (launch-details section 5.6).
 */
const GRACE_SECONDS = 5

/**
 * Keeps a list of process groups from its input, and ends them when the input ends. The list of those still there is
 * made again every second, so that nothing waits for what is gone.
 */
const SCRIPT = `
groups=
keep_living() {
  living=
  for id in $groups; do kill -0 -"$id" 2>/dev/null && living="$living $id"; done
  groups=$living
}
while read -r verb id; do
  case $verb in
    watch) groups="$groups $id" ;;
    forget) rest=; for one in $groups; do [ "$one" = "$id" ] || rest="$rest $one"; done; groups=$rest ;;
  esac
done
for id in $groups; do kill -TERM -"$id" 2>/dev/null; done
seconds=${GRACE_SECONDS}
keep_living
while [ -n "$groups" ] && [ "$seconds" -gt 0 ]; do sleep 1; seconds=$((seconds - 1)); keep_living; done
for id in $groups; do kill -KILL -"$id" 2>/dev/null; done
`

export interface ProcessGuard {
  /** Starts a process that leads its own group, and guards the group until the scope has closed. */
  readonly around: <P extends { readonly pid: number }, E, R>(
    start: Effect.Effect<P, E, R>
  ) => Effect.Effect<P, E, R | Scope.Scope>
}

/**
 * Ends processes after this one had no chance to do it (`kill -9`). Our own agents notice by their standard input, but
 * a manifest may name any executable. A shell waits on a pipe that only this process holds open; where there is no
 * shell, agents that do not watch their input stay.
 */
export const makeProcessGuard: Effect.Effect<ProcessGuard, never, Scope.Scope> = Effect.gen(function* () {
  const shell = yield* Effect.acquireRelease(Effect.sync(startShell), stopShell)
  const tell = (verb: "watch" | "forget", pid: number) =>
    Effect.sync(() => void (shell?.stdin?.writable === true && shell.stdin.write(`${verb} ${pid}\n`)))
  return {
    around: (start) =>
      Effect.gen(function* () {
        let pid: number | undefined
        // Closes after what `start` adds to the scope, so the group is guarded until it has been stopped.
        yield* Effect.addFinalizer(() => (pid === undefined ? Effect.void : tell("forget", pid)))
        const started = yield* start
        pid = started.pid
        yield* tell("watch", pid)
        return started
      })
  }
})

const startShell = (): ChildProcess | undefined => {
  if (process.platform === "win32") return undefined
  const shell = spawn("/bin/sh", ["-c", SCRIPT, "runplane-agent-guard"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.on("error", () => {})
  shell.stdin.on("error", () => {})
  return shell
}

/** Everything that it guards has been stopped by now. */
const stopShell = (shell: ChildProcess | undefined) =>
  Effect.callback<void>((resume) => {
    if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return resume(Effect.void)
    shell.once("exit", () => resume(Effect.void))
    shell.kill("SIGKILL")
  })
