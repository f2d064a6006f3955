import { randomBytes } from "node:crypto"
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { PostgresBinaries } from "./PostgresBinaries.ts"
import { runToEnd } from "./Programs.ts"
import type { ServerUser } from "./ServerUser.ts"

/** The data folder cannot be made, written or used. */
export class DataFolderUnusable extends Data.TaggedError("DataFolderUnusable")<{
  readonly folder: string
  readonly reason: string
}> {
  override get message() {
    return `data folder ${this.folder} cannot be used: ${this.reason}`
  }
}

/** Major version of the data format that the embedded server reads. */
const FORMAT = "18"

/** The superuser of the cluster, and the owner of everything in it. */
export const SUPERUSER = "runplane"

const PASSWORD_FILE = "runplane-password"
const PASSWORD_BYTES = 24

/** Makes the folder that holds the cluster and checks that it can be written. */
export const ensureParent = Effect.fn("ClusterFolder.ensureParent")((cluster: string) =>
  attempt(dirname(cluster), () => {
    mkdirSync(dirname(cluster), { recursive: true })
    accessSync(dirname(cluster), constants.W_OK | constants.X_OK)
  })
)

/** True when the folder holds a cluster of our format, false when one can be made there. */
export const holdsCluster = Effect.fn("ClusterFolder.holdsCluster")(function* (cluster: string) {
  const version = yield* attempt(cluster, () => {
    if (existsSync(join(cluster, "PG_VERSION"))) return readFileSync(join(cluster, "PG_VERSION"), "utf8").trim()
    return existsSync(cluster) && readdirSync(cluster).length > 0 ? "" : undefined
  })
  if (version === undefined) return false
  if (version === FORMAT) return true
  const reason =
    version === ""
      ? "it holds files that are not a PostgreSQL cluster"
      : `it was written by PostgreSQL ${version}, this is PostgreSQL ${FORMAT}`
  return yield* new DataFolderUnusable({ folder: cluster, reason })
})

/**
 * Makes a cluster with a random password. It is made beside its place and renamed at the end, so that an interrupted
 * start never leaves half a cluster behind that later starts would trust.
 */
export const initialise = Effect.fn("ClusterFolder.initialise")(function* (
  cluster: string,
  binaries: PostgresBinaries,
  user: ServerUser | undefined
) {
  const draft = `${cluster}.new`
  const handover = `${cluster}.password`
  const password = randomBytes(PASSWORD_BYTES).toString("base64url")
  const give = (path: string) => user !== undefined && chownSync(path, user.uid, user.gid)

  yield* attempt(cluster, () => {
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(draft, { mode: 0o700 })
    give(draft)
    rmSync(handover, { force: true })
    writeFileSync(handover, password, { mode: 0o600 })
    give(handover)
  })
  const args = [
    `--pgdata=${draft}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${handover}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--no-instructions"
  ]
  yield* runToEnd(binaries.initdb, args, user).pipe(
    Effect.mapError(({ message }) => new DataFolderUnusable({ folder: cluster, reason: message })),
    Effect.ensuring(Effect.sync(() => rmSync(handover, { force: true })))
  )
  yield* attempt(cluster, () => {
    const kept = join(draft, PASSWORD_FILE)
    writeFileSync(kept, password, { mode: 0o600 })
    give(kept)
    rmSync(cluster, { recursive: true, force: true })
    renameSync(draft, cluster)
  })
})

/** The password that was made with the cluster. */
export const readPassword = Effect.fn("ClusterFolder.readPassword")((cluster: string) =>
  attempt(cluster, () => Redacted.make(readFileSync(join(cluster, PASSWORD_FILE), "utf8")))
)

const attempt = <A>(folder: string, use: () => A): Effect.Effect<A, DataFolderUnusable> =>
  Effect.try({ try: use, catch: (cause) => new DataFolderUnusable({ folder, reason: reasonOf(cause) }) })

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "its path is a file"
}

const reasonOf = (cause: unknown) => {
  if (!(cause instanceof Error)) return String(cause)
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : ""
  return REASONS[code] ?? cause.message
}
