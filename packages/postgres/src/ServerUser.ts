import { execFile } from "node:child_process"
import { statSync } from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** PostgreSQL refuses to run as root, and there is no other user it can run as, or no folder that user can use. */
export class NoServerUser extends Data.TaggedError("NoServerUser")<{ readonly reason: string }> {
  override get message() {
    return `PostgreSQL cannot run as root: ${this.reason}; run as another user, or set RUNPLANE_DATA_DIR or DATABASE_URL`
  }
}

/** The user that the server runs as, when that is not the user of this process. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** Users that root may become, in this order; the second exists on every system. */
const CANDIDATES = ["postgres", "nobody"]

/**
 * Undefined unless this process is root. Root becomes the owner of an existing cluster, else the user `postgres`, else
 * `nobody`.
 */
export const chooseServerUser = Effect.fn("ServerUser.choose")(function* (
  cluster: string
): Effect.fn.Return<ServerUser | undefined, NoServerUser> {
  if (process.getuid?.() !== 0) return undefined
  return owner(cluster) ?? (yield* firstKnown)
})

const owner = (folder: string): ServerUser | undefined => {
  const stats = statSync(folder, { throwIfNoEntry: false })
  return stats === undefined || stats.uid === 0 ? undefined : { uid: stats.uid, gid: stats.gid }
}

const firstKnown: Effect.Effect<ServerUser, NoServerUser> = Effect.gen(function* () {
  for (const name of CANDIDATES) {
    const uid = yield* output("id", ["-u", name])
    const gid = yield* output("id", ["-g", name])
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return yield* new NoServerUser({ reason: `there is no user ${CANDIDATES.join(" or ")}` })
})

const output = (program: string, args: ReadonlyArray<string>) =>
  Effect.callback<string | undefined>((resume) => {
    execFile(program, args, (error, stdout) => resume(Effect.succeed(error === null ? stdout.trim() : undefined)))
  })
