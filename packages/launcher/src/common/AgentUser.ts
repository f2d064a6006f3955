import { execFile } from "node:child_process"
import * as Effect from "effect/Effect"

/** A user of this machine that agents run as, when that is not the user of the service. */
export interface AgentUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const ROOT = 0

/**
 * The user that `EXAMPLE_AGENT_USER` names (docs/internals/launch.md#agent-user), by name or number. Only root may
 * start processes of another user. Fails with the fault of the setting. `ownUid` is undefined where the system
 * has no users.
 */
export const agentUser = Effect.fnUntraced(function* (
  given: string,
  ownUid: number | undefined,
  find: (given: string) => Effect.Effect<AgentUser | undefined>
): Effect.fn.Return<AgentUser, string> {
  if (ownUid !== ROOT) {
    const where = ownUid === undefined ? "on a system without users" : `as user ${ownUid}`
    return yield* Effect.fail(`EXAMPLE_AGENT_USER needs a service that runs as root, and this one runs ${where}`)
  }
  const user = yield* find(given)
  if (user === undefined) return yield* Effect.fail(`EXAMPLE_AGENT_USER names ${given}, which is not a user here`)
  if (user.uid === ROOT) return yield* Effect.fail("EXAMPLE_AGENT_USER must be another user than root")
  return user
})

/** A user of the machine, as `id` knows it. */
export const findUser = (given: string): Effect.Effect<AgentUser | undefined> =>
  Effect.map(Effect.all([idOf("-un", given), idOf("-u", given), idOf("-g", given)]), ([name, uid, gid]) =>
    name === undefined || uid === undefined || gid === undefined
      ? undefined
      : { name, uid: Number(uid), gid: Number(gid) }
  )

const idOf = (what: "-un" | "-u" | "-g", given: string) =>
  Effect.callback<string | undefined>((resume) => {
    execFile("id", [what, "--", given], (error, stdout) =>
      resume(Effect.succeed(error === null ? stdout.trim() : undefined))
    )
  })
