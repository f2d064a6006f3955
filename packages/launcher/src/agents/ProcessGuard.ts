import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { AGENT_MARK } from "./ProcessTree.ts"

/** Seconds that processes get to end by themselves after SIGTERM, as at an ordinary stop. */
const GRACE_SECONDS = 5

/**
 * Keeps a list of process groups from its input, and ends them when the input ends, together with the processes that
 * have the mark of this host, where /proc shows them. The list of the remaining ones is made again every second, so
 * that the shell does not wait for processes that have ended.
 */
const SCRIPT = `
groups=
mark="${AGENT_MARK}=$1/"
keep_living() {
  living=
  for id in $groups; do kill -0 -"$id" 2>/dev/null && living="$living $id"; done
  groups=$living
  marked=
  for process in /proc/[0-9]*; do
    grep -qsF "$mark" "$process/environ" && marked="$marked \${process#/proc/}"
  done
}
end_all() {
  for id in $groups; do kill -"$1" -"$id" 2>/dev/null; done
  for id in $marked; do kill -"$1" "$id" 2>/dev/null; done
}
while read -r verb id; do
  case $verb in
    watch) groups="$groups $id" ;;
    forget) rest=; for one in $groups; do [ "$one" = "$id" ] || rest="$rest $one"; done; groups=$rest ;;
  esac
done
keep_living
end_all TERM
seconds=${GRACE_SECONDS}
keep_living
while [ -n "$groups$marked" ] && [ "$seconds" -gt 0 ]; do sleep 1; seconds=$((seconds - 1)); keep_living; done
end_all KILL
`

/**
 * Ends processes after this one had no chance to do it (`kill -9`). Our own agents notice by their standard input, but
 * a manifest may name any executable. A shell waits on a pipe that only this process holds open; where there is no
 * shell, agents that do not watch their input stay.
 */
export class ProcessGuard extends Context.Service<
  ProcessGuard,
  {
    /** The first half of the mark of every process that this host starts (`ProcessTree`); a slash follows. */
    readonly mark: string
    /** Starts a process that leads its own group, and guards the group until the scope has closed. */
    readonly around: <P extends { readonly pid: number }, E, R>(
      start: Effect.Effect<P, E, R>
    ) => Effect.Effect<P, E, R | Scope.Scope>
  }
>()("runplane/launcher/ProcessGuard") {
  static readonly layer = Layer.effect(
    ProcessGuard,
    Effect.gen(function* () {
      const mark = yield* (yield* SecureRandom.SecureRandom).uuidV4()
      const shell = yield* startShell(mark)
      const note = (verb: "watch" | "forget", pid: number) =>
        Option.match(shell, {
          onNone: () => Effect.void,
          onSome: ({ stdin }) =>
            Effect.ignore(Stream.run(Stream.encodeText(Stream.make(`${verb} ${pid}\n`)), stdin), { log: "Debug" })
        })
      return ProcessGuard.of({
        mark,
        around: (start) =>
          Effect.gen(function* () {
            let pid: number | undefined
            // Closes after what `start` adds to the scope, so the group is guarded until it has been stopped.
            yield* Effect.addFinalizer(() => (pid === undefined ? Effect.void : note("forget", pid)))
            const started = yield* start
            pid = started.pid
            yield* note("watch", pid)
            return started
          })
      })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

/** Killed with the scope: everything that it guards has been stopped by then. */
const startShell = (mark: string) =>
  process.platform === "win32"
    ? Effect.succeedNone
    : Effect.option(
        ChildProcess.make("/bin/sh", ["-c", SCRIPT, "runplane-agent-guard", mark], {
          stdin: { stream: "pipe", endOnDone: false },
          stdout: "ignore",
          stderr: "ignore",
          // It needs to find `sleep` and `grep`; the keys and passwords of the service are none of its business.
          env: { PATH: process.env["PATH"] },
          killSignal: "SIGKILL"
        })
      )
