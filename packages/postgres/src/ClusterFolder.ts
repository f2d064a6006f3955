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
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { attempt, DataFolderUnusable, makeFolder } from "./DataFolder.ts"
import { runToEnd } from "./Programs.ts"
import type { ServerLocation } from "./ServerLocation.ts"

/** Major version of the data format that the embedded server reads. */
const FORMAT = "18"

/** The superuser of the cluster, and the owner of everything in it. */
export const SUPERUSER = "runplane"

const PASSWORD_FILE = "runplane-password"
const PASSWORD_BYTES = 24

/** Makes the folder that holds the cluster and checks that it can be written. */
export const ensureParent = Effect.fn("ClusterFolder.ensureParent")((cluster: string) =>
  attempt(dirname(cluster), () => {
    makeFolder(dirname(cluster))
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
 * Makes a cluster with a random password. It is made under another name and renamed at the end, so that an interrupted
 * start never leaves half a cluster behind that later starts would trust. It reaches the disk before this returns where
 * it is to be durable.
 */
export const initialise = Effect.fn("ClusterFolder.initialise")(function* (
  { binaries, cluster, user }: ServerLocation,
  { durable }: { readonly durable: boolean }
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
    "--no-instructions",
    ...(durable ? [] : ["--no-sync"])
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
