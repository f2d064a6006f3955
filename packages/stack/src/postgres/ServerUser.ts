import { execFile } from "node:child_process"
import { constants, type Stats, statSync } from "node:fs"
import { dirname } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** PostgreSQL refuses to run as root, and no other user may enter the folders it needs. */
export class NoServerUser extends Data.TaggedError("NoServerUser")<{ readonly reason: string }> {
  override get message() {
    return `PostgreSQL cannot run as root: ${this.reason}; run as another user, or set RUNPLANE_DATA_DIR or DATABASE_URL`
  }
}

/** Who the server runs as, when that is not the user of this process. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
  /** Put before the program and its arguments; with it the process is started as root and changes user by itself. */
  readonly prefix: ReadonlyArray<string>
}

/** Users that root may become, in this order; the second exists everywhere. */
const CANDIDATES = ["postgres", "nobody"]

/**
 * Undefined unless this process is root. Root becomes the owner of an existing cluster, else the user `postgres`, else
 * `nobody`. Where that user cannot reach one of the paths (a checkout below a private home folder), it is given the one
 * capability that lets it, by `setpriv`.
 */
export const chooseServerUser = Effect.fn("ServerUser.choose")(function* (
  cluster: string,
  paths: ReadonlyArray<string>
): Effect.fn.Return<ServerUser | undefined, NoServerUser> {
  if (process.getuid?.() !== 0) return undefined
  const user = owner(cluster) ?? (yield* firstKnown)
  const closed = paths.map((path) => closedFolder(path, user)).find((folder) => folder !== undefined)
  if (closed === undefined) return { ...user, prefix: [] }
  if (yield* succeeds("setpriv", ["--version"])) return { ...user, prefix: crossing(user) }
  return yield* new NoServerUser({ reason: `its user may not enter ${closed}` })
})

interface Identity {
  readonly uid: number
  readonly gid: number
}

const crossing = ({ gid, uid }: Identity) => [
  "setpriv",
  `--reuid=${uid}`,
  `--regid=${gid}`,
  "--clear-groups",
  "--inh-caps=+dac_override",
  "--ambient-caps=+dac_override"
]

const owner = (folder: string): Identity | undefined => {
  const stats = statSync(folder, { throwIfNoEntry: false })
  return stats === undefined || stats.uid === 0 ? undefined : { uid: stats.uid, gid: stats.gid }
}

const firstKnown: Effect.Effect<Identity, NoServerUser> = Effect.gen(function* () {
  for (const name of CANDIDATES) {
    const uid = yield* output("id", ["-u", name])
    const gid = yield* output("id", ["-g", name])
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return yield* new NoServerUser({ reason: `there is no user ${CANDIDATES.join(" or ")}` })
})

/** The outermost folder on the way to a path that the user may not enter. */
const closedFolder = (path: string, user: Identity): string | undefined => {
  const ancestors: Array<string> = []
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    ancestors.unshift(folder)
    if (folder === dirname(folder)) break
  }
  return ancestors.find((folder) => {
    const stats = statSync(folder, { throwIfNoEntry: false })
    return stats !== undefined && !mayEnter(stats, user)
  })
}

const mayEnter = (stats: Stats, { gid, uid }: Identity) => {
  if (stats.uid === uid) return (stats.mode & constants.S_IXUSR) !== 0
  return (stats.mode & (stats.gid === gid ? constants.S_IXGRP : constants.S_IXOTH)) !== 0
}

const succeeds = (program: string, args: ReadonlyArray<string>) =>
  Effect.map(output(program, args), (text) => text !== undefined)

const output = (program: string, args: ReadonlyArray<string>) =>
  Effect.callback<string | undefined>((resume) => {
    execFile(program, args, (error, stdout) => resume(Effect.succeed(error === null ? stdout.trim() : undefined)))
  })
