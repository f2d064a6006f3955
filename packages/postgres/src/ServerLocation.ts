import { randomBytes } from "node:crypto"
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative, resolve } from "node:path"
import * as Effect from "effect/Effect"
import { attempt, type DataFolderUnusable } from "./DataFolder.ts"
import type { PostgresBinaries } from "./PostgresBinaries.ts"
import { isKeptByRoot, mayList, mayReach, mayRun } from "./Reach.ts"
import { chooseServerUser, NoServerUser, type ServerUser } from "./ServerUser.ts"

/** Where the server runs: its user, its programs and its cluster, all of which that user can reach. */
export interface ServerLocation {
  /** Undefined: the user of this process. */
  readonly user: ServerUser | undefined
  readonly binaries: PostgresBinaries
  /** Absolute path of the cluster, past any link. */
  readonly cluster: string
}

/**
 * Decides where the server of a cluster runs. Mostly that is where the install and the data folder are. When root has
 * both in a private folder (mode 0700, as root's home folder is), the server's own user may enter neither, and the
 * private folder stays closed to it: the programs are copied to a folder that root keeps for this, once for each
 * version, and the cluster lives there too, with a link from the data folder to it.
 */
export const chooseServerLocation = Effect.fn("ServerLocation.choose")(function* (
  folder: string,
  installed: PostgresBinaries
): Effect.fn.Return<ServerLocation, NoServerUser | DataFolderUnusable> {
  const user = yield* chooseServerUser(folder)
  if (user === undefined)
    return { user, binaries: installed, cluster: yield* attempt(folder, () => behindLink(folder)) }
  const binaries = yield* reachablePrograms(installed, user)
  return { user, binaries, cluster: yield* reachableCluster(folder, user) }
})

/** Folders in which root may keep things for others to reach, the first that will do. */
const ROOT_FOLDERS = ["/var/lib/runplane", "/usr/local/var/runplane"]
/** Where none of those can be made: gone with the next clean-up of temporary files. */
const lastFolder = () => join(tmpdir(), "runplane-root")

const rootFolder = (user: ServerUser): Effect.Effect<string, NoServerUser> =>
  Effect.suspend(() => {
    const folders = [...ROOT_FOLDERS, lastFolder()]
    const base = folders.find((folder) => isKeptByRoot(folder) && mayReach(join(folder, "in"), user))
    if (base !== undefined) return Effect.succeed(base)
    return Effect.fail(
      new NoServerUser({ reason: `its user may not enter this folder, and none of ${folders.join(", ")} can be used` })
    )
  })

const reachablePrograms = Effect.fnUntraced(function* (installed: PostgresBinaries, user: ServerUser) {
  const { initdb, installation, postgres, version } = installed
  const shared = ["lib", "share"].map((name) => join(installation, name))
  if (mayRun(initdb, user) && mayRun(postgres, user) && shared.every((folder) => mayList(folder, user)))
    return installed
  const base = yield* rootFolder(user)
  const copy = join(base, `postgresql-${version}`)
  yield* attempt(copy, () => existsSync(copy) || copyInstallation(installation, base, copy))
  const moved = (program: string) => join(copy, relative(installation, program))
  return { initdb: moved(initdb), postgres: moved(postgres), installation: copy, version }
})

/** Copied under another name and renamed, so that a copy is whole or missing. */
const copyInstallation = (installation: string, base: string, copy: string) => {
  const draft = mkdtempSync(join(base, "draft-"))
  try {
    cpSync(installation, draft, { recursive: true, verbatimSymlinks: true })
    openToOthers(draft)
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process has made it in the meantime.
    if (!existsSync(copy)) throw error
  }
}

/** Whatever the umask was when the programs were installed: a copy of them holds nothing private. */
const openToOthers = (path: string) => {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  chmodSync(path, stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (stats.isDirectory()) for (const name of readdirSync(path)) openToOthers(join(path, name))
}

const reachableCluster = Effect.fnUntraced(function* (folder: string, user: ServerUser) {
  const target = yield* attempt(folder, () => behindLink(folder))
  if (mayReach(target, user)) return target
  const clusters = join(yield* rootFolder(user), "data")
  return yield* attempt(folder, () => {
    // Passed through by the server's user, listed by root alone.
    mkdirSync(clusters, { recursive: true, mode: 0o711 })
    chmodSync(clusters, 0o711)
    const cluster = join(clusters, `${nameOf(folder)}-${randomBytes(4).toString("hex")}`)
    // A cluster of before, when this folder was still open to the server's user, moves along.
    if (existsSync(folder)) renameSync(folder, cluster)
    symlinkSync(cluster, folder)
    return cluster
  })
})

/**
 * For people who look through the folder of the clusters: the name of the checkout, `main` for `main/.data/postgres`.
 */
const nameOf = (folder: string) =>
  (basename(dirname(dirname(folder))) || "runplane").replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 40)

/**
 * Where the link of the data folder leads, or the folder itself when it is none. A link whose target is gone
 * is removed.
 */
const behindLink = (folder: string): string => {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return folder
  const target = resolve(dirname(folder), readlinkSync(folder))
  if (existsSync(dirname(target))) return target
  rmSync(folder)
  return folder
}
